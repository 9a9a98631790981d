import { Type } from 'typebox';

import { PROPOSAL_MINUTES_DEFAULT, PROPOSAL_MINUTES_MAX } from '#modules/agents/decide/proposal.ts';

/** A reason or a question: short, since it is read on a phone at night. */
export const Sentence = Type.String({
  minLength: 1,
  maxLength: 500,
  pattern: '\\S',
  description: 'a sentence or two',
});

export const Evidence = Type.Array(Type.String({ minLength: 1, maxLength: 300 }), {
  minItems: 1,
  maxItems: 10,
  description: 'what you saw, each in one line: value, time, where',
});

export const ProposalMinutes = Type.Integer({
  minimum: 5,
  maximum: PROPOSAL_MINUTES_MAX,
  description: `until it expires; ${PROPOSAL_MINUTES_DEFAULT} when absent`,
});
