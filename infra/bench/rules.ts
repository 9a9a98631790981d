import { type Bench } from './harness.ts';

export const rules: Bench = { name: 'rules', about: 'a cycle of the rule evaluator', run: async () => {} };
