/** The fewest characters of a password. */
export const PASSWORD_LENGTH_MIN = 12;
