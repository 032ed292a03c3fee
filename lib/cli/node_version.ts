/** Which Node this package runs on. */

const NEEDED = [22, 19] as const;

/** Why a version of Node is too old; `undefined` where it is not. */
export function tooOld(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [neededMajor, neededMinor] = NEEDED;
  if (major > neededMajor || (major === neededMajor && minor >= neededMinor)) return undefined;
  return `a2a-strict needs Node ${NEEDED.join('.')} or later, and this is ${version}`;
}
