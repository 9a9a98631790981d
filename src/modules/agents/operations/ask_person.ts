import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { lockIncident } from '#modules/incidents/change_status.ts';
import { AskedView, propose } from '#modules/agents/operations/propose.ts';
import { ProposalMinutes, Sentence } from '#modules/agents/operations/proposal_fields.ts';
import { asId } from '#kernel/ids.ts';

export const askPerson = defineAction({
  name: 'ask_person',
  consoleOnly: true,
  isForResponders: true,
  summary:
    'Ask the people whom the incident has paged (or one of them) a question that yes or no answers; they may add words. peopleAsked 0: nobody was paged yet, and they read it in the console.',
  permission: 'oncall:view',
  effect: 'write',
  input: Type.Object(
    { incidentId: IdText, question: Sentence, userId: Type.Optional(IdText), minutes: Type.Optional(ProposalMinutes) },
    STRICT,
  ),
  result: AskedView,
  conflict: 'the incident is resolved, or as many questions wait as it may have',
  example: { incidentId: EXAMPLE_IDS.incidentId, question: 'Was the rollout of 2.4.1 stopped by somebody?' },
  async handle({ incidentId, question, userId, minutes }, context) {
    const incident = await lockIncident(incidentId, context);
    return await propose(context, incident, {
      kind: 'question',
      action: null,
      input: null,
      sentence: question.trim(),
      evidence: [],
      minutes,
      userId: userId === undefined ? null : asId('user', userId),
    });
  },
});
