import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { readTestNotification, TestNotificationView } from '#modules/contacts/operations/test_notification_view.ts';

export const getTestNotification = defineAction({
  name: 'get_test_notification',
  consoleOnly: true,
  summary: 'Show the result of one of your test notifications.',
  permission: 'organization:view',
  effect: 'read',
  input: Type.Object({ notificationId: IdText }, STRICT),
  result: TestNotificationView,
  example: { notificationId: EXAMPLE_IDS.notificationId },
  handle: ({ notificationId }, context) => readTestNotification(context, notificationId),
});
