/** When the things of the examples were created, and that they have not been changed since. */
export const EXAMPLE_STAMPS = { createdAt: '2027-01-04T09:12:30.184Z', updatedAt: '2027-01-04T09:12:30.184Z' };
