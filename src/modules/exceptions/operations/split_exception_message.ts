import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { recordActivity } from '#modules/exceptions/record_activity.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { EVENT_CURSOR_EXAMPLE, EventCursor, parseEventCursor } from '#modules/exceptions/operations/event_cursor.ts';
import { scopeOf } from '#modules/exceptions/operations/view.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { groupEvent, keyOfSplit, learnableMessage, splittableMessage } from '#modules/exceptions/decide/grouping.ts';
import { textOfTemplate, tokensOfMessage } from '#modules/exceptions/decide/message_templates.ts';
import { toOccurrence } from '#modules/exceptions/decide/occurrence.ts';
import { AppError, notFound } from '#kernel/errors.ts';

export const splitExceptionMessage = defineAction({
  name: 'split_exception_message',
  consoleOnly: true,
  summary:
    'Split the message of one event off an exception whose messages fit one template, or whose events have one stack: what ' +
    'says the same from now on is an exception of its own. Events that are stored stay where they are; merge_exception_groups undoes it.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: Type.Object({ groupId: IdText, event: EventCursor }, STRICT),
  result: Type.Object({
    groupId: IdText,
    message: Type.String({ description: 'of which it is from now on, <*> and the like for what differs' }),
  }),
  example: { groupId: EXAMPLE_IDS.groupId, event: EVENT_CURSOR_EXAMPLE },
  async handle({ groupId, event: cursor }, context) {
    const { caller, stores, exceptions, sourceMaps, now, record } = context;
    const place = parseEventCursor(cursor, 'event');
    await stores.exceptionGroups.lockInOrder(caller.orgId, [groupId]);
    const group = await stores.exceptionGroups.get(caller.orgId, groupId, now);
    const { orgId, serviceId } = group;
    const page = await exceptions.pages.list(scopeOf(group, now), { from: place, within: null, limit: 1 });
    const stored = page.events.filter(({ place: { eventId } }) => eventId === place.eventId);
    const [mapped] = await sourceMaps.mapEvents(
      stored.map(({ event }) => ({ orgId, serviceId, event })),
      'reader',
    );
    if (mapped === undefined) throw notFound('event', 'event');
    const grouping = groupEvent(mapped.event);
    const learnt = learnableMessage(grouping);
    const message = learnt ?? splittableMessage(mapped.event, grouping);
    if (message === null)
      throw conflict('is grouped by a fingerprint or says nothing, so its message cannot be split off');
    const tokens = tokensOfMessage(message.text);
    const text = textOfTemplate(tokens);
    const template = await stores.messageTemplates.findOfGroup(group.id);
    if (group.mergedIds.length === 0 && template !== null && textOfTemplate(template.tokens) === text) {
      throw conflict('says what all events of this exception say, so there is nothing to split off');
    }
    const key = learnt === null ? keyOfSplit(grouping.key, text) : keyOfSplit(grouping.key);
    const target = await stores.exceptionGroups.findByKey(serviceId, key);
    if (target?.id === group.id) throw conflict('is split off already');
    if (learnt === null) await stores.messageTemplates.splitOffStack({ serviceId, key, message }, now);
    else await stores.messageTemplates.splitOff({ serviceId, key, message }, now);
    if (target !== null) {
      // The message was split off before, and merged again.
      if (target.mergedIntoId !== null) await stores.groupMerges.split(target.id, now);
      record({ target: target.id, before: { mergedInto: target.mergedIntoId }, after: { mergedInto: null } });
      return { groupId: target.id, message: text };
    }
    const seen = { orgId, serviceId, grouping: { ...grouping, key }, occurrence: toOccurrence(mapped.event) };
    const [made] = await stores.exceptionGroups.upsertSeen([seen], now, Infinity);
    if (made == null) throw conflict('belongs to a service that is being deleted');
    record({ target: made.groupId, before: {}, after: { splitFrom: group.id, message: text } });
    record({ target: group.id, before: {}, after: { splitOff: made.groupId } });
    await recordActivity(context, group.id, { kind: 'split_off', groupId: made.groupId });
    return { groupId: made.groupId, message: text };
  },
});

function conflict(message: string): AppError {
  return new AppError('conflict', message, { faults: [{ path: 'event', message }] });
}
