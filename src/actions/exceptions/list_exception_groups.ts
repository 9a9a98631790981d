import { Type } from 'typebox';

import { defineAction, LIST_LIMIT } from '#actions/action_context.ts';
import { ExceptionGroupView, GroupStatusName, readGroupViews } from '#actions/exceptions/view.ts';
import { CLOSED, IdText } from '#actions/fields.ts';

export const listExceptionGroups = defineAction({
  name: 'list_exception_groups',
  summary:
    'List groups of alike exceptions with their event and user counts, last seen first, optionally of one service or status.',
  permission: 'exceptions:view',
  effect: 'read',
  input: Type.Object({ serviceId: Type.Optional(IdText), status: Type.Optional(GroupStatusName) }, CLOSED),
  result: Type.Object({ groups: Type.Array(ExceptionGroupView), total: Type.Integer() }),
  async handle({ serviceId, status }, context) {
    const { caller, stores, now } = context;
    const service = serviceId === undefined ? null : await stores.services.get(caller.orgId, serviceId);
    const filter = { serviceId: service?.id ?? null, status: status ?? null };
    const { groups, total } = await stores.exceptionGroups.list(caller.orgId, filter, now, LIST_LIMIT);
    return { groups: await readGroupViews(groups, context), total };
  },
});
