import { EXAMPLE_IDS } from '#actions/example_ids.ts';

/** The people of the examples. */
export const EXAMPLE_PEOPLE = {
  anna: { userId: EXAMPLE_IDS.userId, name: 'Anna de Vries', email: 'anna@northwind.example' },
  bram: { userId: EXAMPLE_IDS.otherUserId, name: 'Bram Jansen', email: 'bram@northwind.example' },
} as const;
