/** Least length of a password, in characters. */
export const PASSWORD_LENGTH_MIN = 12;
