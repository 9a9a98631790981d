/** Answer to an open incident. */
export type Answer = 'acknowledge' | 'resolve';
