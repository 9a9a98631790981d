import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { changesSince } from '#actions/changes_since.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { issueLinkFault } from '#modules/exceptions/decide/issue_link.ts';
import {
  ASSIGNMENT_FIELDS,
  AssignmentView,
  requireAssignees,
  toAssignmentView,
} from '#modules/exceptions/operations/assignment/assignment_fields.ts';
import { NO_ASSIGNMENT } from '#modules/exceptions/operations/assignment/get_exception_assignment.ts';

const EXAMPLE = {
  assignmentRules: [
    { path: 'src/payment/*', tag: { key: 'customer', value: 'acme*' }, assigneeId: EXAMPLE_IDS.userId },
    { path: null, tag: null, assigneeId: EXAMPLE_IDS.teamId },
  ],
  issueLink: 'https://github.com/acme/shop/issues/new?title={title}&body={link}',
};

export const setExceptionAssignment = defineAction({
  name: 'set_exception_assignment',
  consoleOnly: true,
  summary:
    'Set whom new exceptions of a service are assigned to, by rules of which the first that matches decides, and where issues about them are written, unless somebody else has changed the same since it was read.',
  permission: 'services:edit',
  effect: 'write',
  input: Type.Object(
    {
      serviceId: IdText,
      ...ASSIGNMENT_FIELDS,
      basedOn: Type.Optional(Type.Object(ASSIGNMENT_FIELDS, { ...STRICT, description: 'what was read' })),
    },
    STRICT,
  ),
  result: AssignmentView,
  conflict: 'somebody has changed the same since it was read',
  meaning({ issueLink }) {
    const fault = typeof issueLink === 'string' ? issueLinkFault(issueLink) : null;
    return fault === null ? [] : [{ path: 'issueLink', message: fault }];
  },
  example: { serviceId: EXAMPLE_IDS.serviceId, ...EXAMPLE, basedOn: { assignmentRules: [], issueLink: null } },
  async handle({ serviceId, basedOn, assignmentRules, issueLink }, context) {
    const { caller, stores, now, record } = context;
    const { id } = await stores.services.lock(caller.orgId, serviceId);
    await requireAssignees(caller.orgId, assignmentRules, context);
    const stored = (await stores.exceptionSettings.find([id])).get(id) ?? NO_ASSIGNMENT;
    const before = { assignmentRules: [...stored.assignmentRules], issueLink: stored.issueLink };
    const wanted = { assignmentRules, issueLink };
    const after = { ...before, ...changesSince(basedOn, before, wanted, 'these settings') };
    await stores.exceptionSettings.saveAssignment(id, after, now);
    record({ target: id, before, after });
    return await toAssignmentView(after, context);
  },
});
