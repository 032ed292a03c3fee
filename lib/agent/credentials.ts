/** Credentials, each bound to the origin that it was given for. */
import { Refusal } from '../failure.js';
import { checkHeaders, isCredential } from '../policy/headers.js';

/** The value of an `authorization` header, and the one origin that may see it. */
export interface Authorization {
  readonly value: string;
  readonly origin: string;
}

/** The caller's own headers, and what of them only the base URL's origin may see. */
export class BoundHeaders {
  readonly #origin: string;
  readonly #open: Readonly<Record<string, string>>;
  readonly #secret: Readonly<Record<string, string>>;

  /** @param headers checked; `authorization` is not among them */
  constructor(origin: string, headers: Readonly<Record<string, string>>, secretHeaders: readonly string[]) {
    const isSecret = ([name]: [string, string]): boolean => isCredential(name, secretHeaders);
    const entries = Object.entries(headers);
    this.#origin = origin;
    this.#secret = Object.fromEntries(entries.filter(isSecret));
    this.#open = Object.fromEntries(entries.filter((entry) => !isSecret(entry)));
  }

  /** For the card, which may be public: what may not go to `origin` stays behind. */
  forCard(origin: string, authorization: Authorization | undefined): Record<string, string> {
    return {
      ...this.#open,
      ...(origin === this.#origin && this.#secret),
      ...(authorization?.origin === origin && { authorization: authorization.value }),
    };
  }

  /**
   * For a call, which is not to go without.
   * @throws {Refusal} `agent.authorization`: a credential that may not go to `origin`
   */
  forCall(origin: string, authorization: Authorization | undefined): Record<string, string> {
    const isWithheld = (origin !== this.#origin && Object.keys(this.#secret).length > 0) || (authorization?.origin ?? origin) !== origin;
    if (isWithheld) throw new Refusal('agent.authorization');
    return this.forCard(origin, authorization);
  }
}

/** @throws {Refusal} `options.headers` */
export function authorizationOf(value: unknown, origin: string): Authorization | undefined {
  const { authorization = '' } = checkHeaders([['authorization', value]]);
  return authorization === '' ? undefined : { value: authorization, origin };
}
