/** The command line is wrong: nothing has been sent. The message is printed, so it repeats no value that may be a secret. */
export class UsageError extends Error {}
