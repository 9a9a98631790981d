import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { STRICT, IdText, nullable } from '#actions/fields.ts';
import { findAssignees } from '#modules/exceptions/assignees.ts';
import type { AssignmentRule } from '#modules/exceptions/decide/assignment.ts';
import { ISSUE_URL_LENGTH_MAX } from '#modules/exceptions/decide/issue_link.ts';
import { notFound } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';

/** Limit on the assignment rules of a service. */
const RULES_MAX = 50;

const Pattern = Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' });

const RuleFields = {
  path: nullable(Type.String({ ...Pattern, description: 'a file in the stack; `*` stands for anything; null: any' })),
  tag: nullable(
    Type.Object(
      { key: Pattern, value: Pattern },
      { ...STRICT, description: 'a tag of the event; `*` in the value stands for anything; null: any' },
    ),
  ),
  assigneeId: Type.String({ maxLength: 100, description: 'the id of a person or of a team' }),
};

export const ASSIGNMENT_FIELDS = {
  assignmentRules: Type.Array(Type.Object(RuleFields, STRICT), {
    maxItems: RULES_MAX,
    description: 'the first that matches the first event of a new group, and whose person or team is there, assigns it',
  }),
  issueLink: nullable(
    Type.String({
      maxLength: ISSUE_URL_LENGTH_MAX,
      description: 'address of the form for a new issue, with {title}, {type}, {culprit}, {service} and {link}',
    }),
  ),
};

export const AssignmentView = Type.Object({
  ...ASSIGNMENT_FIELDS,
  names: Type.Array(Type.Object({ assigneeId: IdText, name: Type.String() }), {
    description: 'of the people and teams that are there',
  }),
});

interface Assignments {
  readonly assignmentRules: readonly AssignmentRule[];
  readonly issueLink: string | null;
}

/** Returns the assignment rules and the link with the names of whom they name. */
export async function toAssignmentView(
  { assignmentRules, issueLink }: Assignments,
  { caller, stores }: ActionContext,
): Promise<Static<typeof AssignmentView>> {
  const ids = [...new Set(assignmentRules.map(({ assigneeId }) => assigneeId))];
  const assignees = await findAssignees(stores, caller.orgId, ids);
  return {
    assignmentRules: assignmentRules.map((rule) => ({ ...rule })),
    issueLink,
    names: [...assignees].map(([assigneeId, { name }]) => ({ assigneeId, name })),
  };
}

/** Throws `not_found` for a rule that names nobody of the organization. */
export async function requireAssignees(
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
