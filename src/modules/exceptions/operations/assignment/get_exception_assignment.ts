import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { AssignmentView, toAssignmentView } from '#modules/exceptions/operations/assignment/assignment_fields.ts';

export const NO_ASSIGNMENT = { assignmentRules: [], issueLink: null };

export const getExceptionAssignment = defineAction({
  name: 'get_exception_assignment',
  consoleOnly: true,
  summary: 'Show whom new exceptions of a service are assigned to, and where issues about them are written.',
  permission: 'services:view',
  effect: 'read',
  input: Type.Object({ serviceId: IdText }, STRICT),
  result: AssignmentView,
  example: { serviceId: EXAMPLE_IDS.serviceId },
  async handle({ serviceId }, context) {
    const { id } = await context.stores.services.get(context.caller.orgId, serviceId);
    const settings = (await context.stores.exceptionSettings.find([id])).get(id);
    return await toAssignmentView(settings ?? NO_ASSIGNMENT, context);
  },
});
