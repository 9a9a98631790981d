import { type Static, Type } from 'typebox';

import { type ActionContext, changesSince, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS, IdText, nullable, StrictObject } from '#actions/fields.ts';
import { invalidInput, notFound } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import {
  type Assignee,
  assigneeIdOf,
  findAssignees,
  getAssignee,
  NOBODY,
  recordActivity,
} from '#modules/exceptions/assignees.ts';
import type { AssignmentRule } from '#modules/exceptions/decide/assignment.ts';
import { ISSUE_URL_LENGTH_MAX, issueLinkFault } from '#modules/exceptions/decide/issue_link.ts';
import { requireServiceTracker } from '#modules/exceptions/operations/issue_trackers.ts';

const GROUPS_MAX = 200;

const To = StrictObject(
  { userId: Type.Optional(IdText), teamId: Type.Optional(IdText) },
  { description: 'exactly one of them' },
);

export const assignExceptions = defineOperation({
  name: 'assign_exceptions',
  summary:
    'Assign exception groups, all or none, to a member of the organization or to a team; null takes them from everybody. ' +
    'Nobody is paged.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: StrictObject({
    groupIds: Type.Array(IdText, { minItems: 1, maxItems: GROUPS_MAX, uniqueItems: true }),
    to: nullable(To),
  }),
  result: Type.Object({
    changed: Type.Array(
      Type.Object({ groupId: IdText, before: Type.Object({ userId: nullable(IdText), teamId: nullable(IdText) }) }),
      { description: 'without those that were assigned so already' },
    ),
    assigneeName: nullable(Type.String()),
  }),
  example: { groupIds: [EXAMPLE_IDS.groupId], to: { userId: EXAMPLE_IDS.userId } },
  async handle({ groupIds, to }, context) {
    const { caller, stores, now, record } = context;
    const assignee = to === null ? null : await readAssignee(to, context);
    const { assignedUserId, assignedTeamId } = assignee ?? NOBODY;
    const after = { assignedUserId, assignedTeamId };
    await stores.exceptionGroups.lockInOrder(caller.orgId, groupIds);
    const changed = [];
    for (const groupId of groupIds) {
      const group = await stores.exceptionGroups.get(caller.orgId, groupId, now);
      const before = { assignedUserId: group.assignedUserId, assignedTeamId: group.assignedTeamId };
      if (assigneeIdOf(before) === assigneeIdOf(after)) continue;
      changed.push({ groupId: group.id, before: { userId: before.assignedUserId, teamId: before.assignedTeamId } });
      record({ target: group.id, before, after });
      const facts = { assigneeId: assigneeIdOf(after), name: assignee?.name ?? null };
      await recordActivity(context, group.id, { kind: 'assigned', ...facts });
    }
    await stores.groupAssignments.assign(
      changed.map(({ groupId }) => groupId),
      after,
      now,
    );
    return { changed, assigneeName: assignee?.name ?? null };
  },
});

/** Throws `not_found` for somebody who is not a member, and for a team that is not there. */
async function readAssignee(
  { userId, teamId }: { readonly userId?: string; readonly teamId?: string },
  { caller, stores }: ActionContext,
): Promise<Assignee> {
  if (userId !== undefined && teamId === undefined) return await getAssignee(stores, caller.orgId, 'user', userId);
  if (teamId !== undefined && userId === undefined) return await getAssignee(stores, caller.orgId, 'team', teamId);
  throw invalidInput([{ path: 'to', message: 'name a person (userId) or a team (teamId), and not both' }]);
}

const RULES_MAX = 50;

const Pattern = Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' });

const RuleFields = {
  path: nullable(Type.String({ ...Pattern, description: 'a file in the stack; `*` stands for anything; null: any' })),
  tag: nullable(
    StrictObject(
      { key: Pattern, value: Pattern },
      { description: 'a tag of the event; `*` in the value stands for anything; null: any' },
    ),
  ),
  assigneeId: Type.String({ maxLength: 100, description: 'the id of a person or of a team' }),
};

const ASSIGNMENT_FIELDS = {
  assignmentRules: Type.Array(StrictObject(RuleFields), {
    maxItems: RULES_MAX,
    description: 'the first that matches the first event of a new group, and whose person or team is there, assigns it',
  }),
  issueLink: nullable(
    Type.String({
      maxLength: ISSUE_URL_LENGTH_MAX,
      description: 'address of the form for a new issue, with {title}, {type}, {culprit}, {service} and {link}',
    }),
  ),
  trackerId: nullable(
    Type.String({ maxLength: 100, description: 'tracker for issues; null: the first, unless there is an address' }),
  ),
  trackerProject: nullable(
    Type.String({ minLength: 1, maxLength: 200, description: 'repository or project there; null: its own' }),
  ),
};

const AssignmentView = Type.Object({
  ...ASSIGNMENT_FIELDS,
  names: Type.Array(Type.Object({ assigneeId: IdText, name: Type.String() }), {
    description: 'of the people and teams that are there',
  }),
});

interface Assignments {
  readonly assignmentRules: readonly AssignmentRule[];
  readonly issueLink: string | null;
  readonly trackerId: string | null;
  readonly trackerProject: string | null;
}

/** Returns the assignment rules and the link with the names of whom they name. */
async function toAssignmentView(
  { assignmentRules, issueLink, trackerId, trackerProject }: Assignments,
  { caller, stores }: ActionContext,
): Promise<Static<typeof AssignmentView>> {
  const ids = [...new Set(assignmentRules.map(({ assigneeId }) => assigneeId))];
  const assignees = await findAssignees(stores, caller.orgId, ids);
  return {
    assignmentRules: assignmentRules.map((rule) => ({ ...rule })),
    issueLink,
    trackerId,
    trackerProject,
    names: [...assignees].map(([assigneeId, { name }]) => ({ assigneeId, name })),
  };
}

/** Throws `not_found` for a rule that names nobody of the organization. */
async function requireAssignees(
  orgId: Id<'org'>,
  rules: readonly AssignmentRule[],
  { stores }: Pick<ActionContext, 'stores'>,
): Promise<void> {
  const assignees = await findAssignees(
    stores,
    orgId,
    rules.map(({ assigneeId }) => assigneeId),
  );
  const index = rules.findIndex(({ assigneeId }) => !assignees.has(assigneeId));
  if (index >= 0) throw notFound(`assignmentRules[${index}].assigneeId`, 'member or team');
}

const NO_ASSIGNMENT = { assignmentRules: [], issueLink: null, trackerId: null, trackerProject: null };

export const getExceptionAssignment = defineOperation({
  name: 'get_exception_assignment',
  summary: 'Show whom new exceptions of a service are assigned to, and where issues about them are written.',
  permission: 'services:view',
  effect: 'read',
  input: StrictObject({ serviceId: IdText }),
  result: AssignmentView,
  async handle({ serviceId }, context) {
    const { id } = await context.stores.services.get(context.caller.orgId, serviceId);
    const settings = (await context.stores.exceptionSettings.find([id])).get(id);
    return await toAssignmentView(settings ?? NO_ASSIGNMENT, context);
  },
});

const EXAMPLE = {
  assignmentRules: [
    { path: 'src/payment/*', tag: { key: 'customer', value: 'acme*' }, assigneeId: EXAMPLE_IDS.userId },
    { path: null, tag: null, assigneeId: EXAMPLE_IDS.teamId },
  ],
  issueLink: 'https://github.com/acme/shop/issues/new?title={title}&body={link}',
  trackerId: null,
  trackerProject: null,
};

export const setExceptionAssignment = defineOperation({
  name: 'set_exception_assignment',
  summary:
    'Set whom new exceptions of a service are assigned to, by rules of which the first that matches decides, and where issues about them are written, unless somebody else has changed the same since it was read.',
  permission: 'services:edit',
  effect: 'write',
  input: StrictObject({
    serviceId: IdText,
    ...ASSIGNMENT_FIELDS,
    basedOn: Type.Optional(StrictObject(ASSIGNMENT_FIELDS, { description: 'what was read' })),
  }),
  result: AssignmentView,
  conflict: 'somebody has changed the same since it was read',
  validate({ issueLink }) {
    const fault = typeof issueLink === 'string' ? issueLinkFault(issueLink) : null;
    return fault === null ? [] : [{ path: 'issueLink', message: fault }];
  },
  example: { ...EXAMPLE, basedOn: NO_ASSIGNMENT },
  async prepare({ trackerId, trackerProject, basedOn }, context) {
    const isSame = basedOn?.trackerId === trackerId && basedOn.trackerProject === trackerProject;
    if (!isSame) await requireServiceTracker({ trackerId, trackerProject }, context);
  },
  async handle({ serviceId, basedOn, assignmentRules, issueLink, trackerId, trackerProject }, context) {
    const { caller, stores, now, record } = context;
    const { id } = await stores.services.lock(caller.orgId, serviceId);
    await requireAssignees(caller.orgId, assignmentRules, context);
    const stored = (await stores.exceptionSettings.find([id])).get(id) ?? NO_ASSIGNMENT;
    const before: Omit<Static<typeof AssignmentView>, 'names'> = {
      assignmentRules: [...stored.assignmentRules],
      issueLink: stored.issueLink,
      trackerId: stored.trackerId,
      trackerProject: stored.trackerProject,
    };
    const wanted = { assignmentRules, issueLink, trackerId, trackerProject };
    const after = { ...before, ...changesSince(basedOn, before, wanted, 'these settings') };
    const tracker = after.trackerId === null ? null : await stores.issueTrackers.get(caller.orgId, after.trackerId);
    await stores.exceptionSettings.saveAssignment(id, { ...after, trackerId: tracker?.id ?? null }, now);
    record({ target: id, before, after });
    return await toAssignmentView(after, context);
  },
});
