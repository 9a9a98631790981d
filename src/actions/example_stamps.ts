/** Creation times for the objects of the examples, which have not been changed since. */
export const EXAMPLE_STAMPS = { createdAt: '2027-01-04T09:12:30.184Z', updatedAt: '2027-01-04T09:12:30.184Z' };
