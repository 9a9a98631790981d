import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText, nullable } from '#actions/fields.ts';
import { ISSUE_URL_LENGTH_MAX } from '#modules/exceptions/decide/issue_link.ts';
import { lockGroup } from '#modules/exceptions/operations/activity/comments.ts';
import { recordActivity } from '#modules/exceptions/record_activity.ts';

export const setExceptionIssue = defineAction({
  name: 'set_exception_issue',
  consoleOnly: true,
  summary: 'Link an exception group with its issue in a tracker, by the address of the issue; null removes the link.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: Type.Object(
    {
      groupId: IdText,
      url: nullable(
        Type.String({
          maxLength: ISSUE_URL_LENGTH_MAX,
          pattern: '^https?://[^\\s/]+',
          description: 'an address of the web',
        }),
      ),
    },
    STRICT,
  ),
  result: Type.Object({ groupId: IdText, url: nullable(Type.String()) }),
  example: { groupId: EXAMPLE_IDS.groupId, url: 'https://tracker.example.com/SHOP-42' },
  async handle({ groupId, url }, context) {
    const { caller, stores, now, record } = context;
    const id = await lockGroup(groupId, context);
    const { issueUrl } = await stores.exceptionGroups.get(caller.orgId, id, now);
    if (issueUrl === url) return { groupId: id, url };
    await stores.groupAssignments.saveIssue(id, url, now);
    record({ target: id, before: { issueUrl }, after: { issueUrl: url } });
    await recordActivity(context, id, { kind: 'issue', url });
    return { groupId: id, url };
  },
});
