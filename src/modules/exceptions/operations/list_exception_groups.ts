import { Type } from 'typebox';

import { defineAction, LIST_LIMIT } from '#actions/action_context.ts';
import { mostUrgentGroups } from '#modules/exceptions/operations/digest.ts';
import {
  ExceptionGroupView,
  GroupStatusName,
  scopesOf,
  toListedGroupView,
  GROUP_EXAMPLE,
  GROUP_UNTRUSTED_TEXT,
} from '#modules/exceptions/operations/view.ts';
import type { GroupCounts } from '#modules/exceptions/store/exception_reader.ts';
import type { Id } from '#kernel/ids.ts';
import { EXAMPLE_IDS as IDS, IdText, StrictObject } from '#actions/fields.ts';

export const listExceptionGroups = defineAction({
  name: 'list_exception_groups',
  summary:
    'List groups of alike exceptions with their event and user counts, last seen first, optionally of one service or status.',
  guidance: 'Use it to see what breaks. The source of groupIds.',
  permission: 'exceptions:view',
  effect: 'read',
  input: StrictObject({ serviceId: Type.Optional(IdText), status: Type.Optional(GroupStatusName) }),
  result: Type.Object({ groups: Type.Array(ExceptionGroupView), total: Type.Integer() }),
  lists: {
    group: ({ groups }) =>
      groups.map(({ groupId, title, type, serviceId }) => {
        return { id: groupId, names: [title, type ?? title], links: [serviceId] };
      }),
  },
  untrustedText: GROUP_UNTRUSTED_TEXT.map((field) => `groups[].${field}`),
  aliases: ['list_exceptions', 'list_errors', 'list_issues', 'search_issues', 'search_exceptions'],
  digest: ({ groups, total }) => ({ total, groups: mostUrgentGroups(groups) }),
  example: { serviceId: IDS.serviceId, status: 'unresolved' },
  exampleResult: { groups: [GROUP_EXAMPLE], total: 1 },
  async handle({ serviceId, status }, { caller, stores, exceptions, now }) {
    const service = serviceId === undefined ? null : await stores.services.get(caller.orgId, serviceId);
    const filter = { serviceId: service?.id ?? null, status: status ?? null };
    const { groups, total } = await stores.exceptionGroups.list(caller.orgId, filter, now, LIST_LIMIT);
    // What was counted, and nothing has come to since, is not counted again.
    const uncounted = groups.filter(({ events }) => events === null);
    const counted: ReadonlyMap<Id<'group'>, GroupCounts> = uncounted.length === 0
      ? new Map()
      : await exceptions.countByGroup(scopesOf(await stores.groupMerges.withMerged(uncounted), now));
    return { groups: groups.map((group) => toListedGroupView(group, counted.get(group.id))), total };
  },
});
