/** What a person can do about an open incident. */
export type Answer = 'acknowledge' | 'resolve';
