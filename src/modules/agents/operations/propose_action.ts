import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { lockIncident } from '#modules/incidents/change_status.ts';
import { AskedView, propose } from '#modules/agents/operations/propose.ts';
import { Evidence, ProposalMinutes, Sentence } from '#modules/agents/operations/proposal_fields.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';

/** Limit on the input, so that a person can read all of it before they approve. */
const INPUT_BYTES_MAX = 4_000;

export const proposeAction = defineAction({
  name: 'propose_action',
  consoleOnly: true,
  isForResponders: true,
  summary:
    'Propose to carry out an action that changes something (acknowledge_incident, set_exception_status, update_alert_rule …) with its input, a reason and evidence. Nothing happens unless a person approves it; get_proposal tells.',
  permission: 'oncall:view',
  effect: 'write',
  input: Type.Object(
    {
      incidentId: IdText,
      action: Type.String({ minLength: 1, maxLength: 100, description: 'the name of an action of the API' }),
      input: Type.Record(Type.String(), Type.Unknown(), { description: 'the body that the action takes' }),
      reason: Sentence,
      evidence: Evidence,
      minutes: Type.Optional(ProposalMinutes),
    },
    STRICT,
  ),
  result: AskedView,
  conflict: 'the incident is resolved, or as many proposals wait as it may have',
  example: {
    incidentId: EXAMPLE_IDS.incidentId,
    action: 'acknowledge_incident',
    input: { incidentId: EXAMPLE_IDS.incidentId },
    reason: 'The cause is known, and the fix is being rolled out.',
    evidence: ['release 2.4.1 at 03:02', 'errors since 03:04, none before'],
  },
  async handle({ incidentId, action, input, reason, evidence, minutes }, context) {
    const incident = await lockIncident(incidentId, context);
    if (Buffer.byteLength(JSON.stringify(input)) > INPUT_BYTES_MAX) {
      throw invalidInput([
        { path: 'input', message: `is larger than ${INPUT_BYTES_MAX} bytes, too long for a person to review` },
      ]);
    }
    const { effect } = checked(context, action, input);
    if (effect === 'read') {
      throw invalidInput([
        { path: 'action', message: `${action} changes nothing: call it yourself at the MCP endpoint` },
      ]);
    }
    return await propose(context, incident, {
      kind: 'action',
      action,
      input,
      sentence: reason.trim(),
      evidence,
      minutes,
      userId: null,
    });
  },
});

/** Checks the call, with the paths of faults where the agent wrote them. */
function checked(context: Parameters<typeof proposeAction.handle>[1], action: string, input: unknown) {
  try {
    return context.checkCall(action, input);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'unknown_action') throw invalidInput([{ path: 'action', message: error.message }]);
    throw invalidInput(
      error.faults.map(({ path, message }) => ({ path: path === '' ? 'input' : `input.${path}`, message })),
    );
  }
}
