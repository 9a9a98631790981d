import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS, IdText, nullable, StrictObject } from '#actions/fields.ts';
import { AppError, type Fault, invalidInput, notFound } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { groupEvent, keyOfSplit, learnableMessage, splittableMessage } from '#modules/exceptions/decide/grouping.ts';
import { textOfTemplate, tokensOfMessage } from '#modules/exceptions/decide/message_templates.ts';
import { toOccurrence } from '#modules/exceptions/decide/occurrence.ts';
import {
  EVENT_CURSOR_EXAMPLE,
  EventCursor,
  parseEventCursor,
} from '#modules/exceptions/operations/list_exception_events.ts';
import { scopeOf } from '#modules/exceptions/operations/view.ts';
import { recordActivity } from '#modules/exceptions/assignees.ts';

const GROUPS_MAX = 50;
/** Limit on the groups merged into one: its events are read by the ids of all. */
const MERGED_MAX = 500;

export const mergeExceptionGroups = defineOperation({
  name: 'merge_exception_groups',
  summary:
    'Merge exception groups of one service into another: its counts and events are those of all of them, and new events of ' +
    'any of them come to it; its status stays. undo_exception_merges undoes it.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: StrictObject({
    intoGroupId: IdText,
    groupIds: Type.Array(IdText, { minItems: 1, maxItems: GROUPS_MAX, uniqueItems: true }),
  }),
  result: Type.Object({
    merged: Type.Array(Type.Object({ groupId: IdText, fromGroupId: nullable(IdText) }), {
      description: 'with the groups that were part of them, and what each was part of before',
    }),
  }),
  example: { intoGroupId: EXAMPLE_IDS.groupId, groupIds: [EXAMPLE_IDS.otherGroupId] },
  async handle({ intoGroupId, groupIds }, context) {
    const { caller, stores, now, record } = context;
    await stores.exceptionGroups.lockInOrder(caller.orgId, [intoGroupId, ...groupIds]);
    const into = await stores.exceptionGroups.get(caller.orgId, intoGroupId, now);
    if (into.mergedIntoId !== null) {
      throw conflict('intoGroupId', 'has become part of another exception meanwhile: merge into that one instead');
    }
    const groups = [];
    for (const groupId of groupIds) groups.push(await stores.exceptionGroups.get(caller.orgId, groupId, now));
    const faults = groups.flatMap(({ id, serviceId }, index): Fault[] => {
      const path = `groupIds[${index}]`;
      if (id === into.id) return [{ path, message: 'an exception cannot be merged into itself' }];
      return serviceId === into.serviceId ? [] : [{ path, message: 'only exceptions of one service can be merged' }];
    });
    if (faults.length > 0) throw invalidInput(faults);
    // Groups that are part of this one already are skipped: the request may come twice.
    const added = groups.filter(({ mergedIntoId }) => mergedIntoId !== into.id);
    const elsewhere = groups.findIndex(({ mergedIntoId }) => mergedIntoId !== null && mergedIntoId !== into.id);
    if (elsewhere !== -1) {
      throw conflict(
        `groupIds[${elsewhere}]`,
        'has become part of another exception meanwhile: split it off there first',
      );
    }
    const merged = added.flatMap(({ id, mergedIds }) => [
      { groupId: id, fromGroupId: null },
      ...mergedIds.map((groupId) => ({ groupId, fromGroupId: id })),
    ]);
    if (into.mergedIds.length + merged.length > MERGED_MAX) {
      throw conflict('intoGroupId', `cannot be made of more than ${MERGED_MAX} others`);
    }
    await stores.groupMerges.merge(
      merged.map(({ groupId }) => groupId),
      into.id,
      now,
    );
    await stores.exceptionCounts.markDue([into.id], now);
    for (const { groupId, fromGroupId } of merged) {
      record({ target: groupId, before: { mergedInto: fromGroupId }, after: { mergedInto: into.id } });
    }
    const before = into.mergedIds.length;
    if (merged.length > 0) {
      record({ target: into.id, before: { parts: before }, after: { parts: before + merged.length } });
      await recordActivity(context, into.id, { kind: 'merged', groups: added.length });
      for (const { id } of added) await recordActivity(context, id, { kind: 'merged_into', groupId: into.id });
    }
    return { merged };
  },
});

function conflict(path: string, message: string): AppError {
  return new AppError('conflict', message, { faults: [{ path, message }] });
}

export const splitExceptionGroups = defineOperation({
  name: 'split_exception_groups',
  summary:
    'Split exception groups off the one that they are part of: each is one of its own again, with its events, its status and ' +
    'what comes from now on. undo_exception_merges undoes it.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: StrictObject({ groupIds: Type.Array(IdText, { minItems: 1, maxItems: GROUPS_MAX, uniqueItems: true }) }),
  result: Type.Object({
    split: Type.Array(Type.Object({ groupId: IdText, fromGroupId: IdText }), {
      description: 'without those that were part of no other',
    }),
  }),
  example: { groupIds: [EXAMPLE_IDS.groupId] },
  async handle({ groupIds }, context) {
    const { caller, stores, now, record } = context;
    await stores.exceptionGroups.lockInOrder(caller.orgId, groupIds);
    const split = [];
    for (const wanted of groupIds) {
      const group = await stores.exceptionGroups.get(caller.orgId, wanted, now);
      const { id, serviceId, mergedIntoId } = group;
      if (mergedIntoId === null) continue;
      await stores.groupMerges.split(id, now);
      await stores.messageTemplates.pin(serviceId, id, now);
      await stores.exceptionCounts.markDue([id, mergedIntoId], now);
      record({ target: id, before: { mergedInto: mergedIntoId }, after: { mergedInto: null } });
      record({ target: mergedIntoId, before: { part: id }, after: { part: null } });
      await recordActivity(context, mergedIntoId, { kind: 'split_off', groupId: id });
      split.push({ groupId: id, fromGroupId: mergedIntoId });
    }
    return { split };
  },
});

export const splitExceptionMessage = defineOperation({
  name: 'split_exception_message',
  summary:
    'Split the message of one event off an exception whose messages fit one template, or whose events have one stack: what ' +
    'says the same from now on is an exception of its own. Events that are stored stay where they are; merge_exception_groups undoes it.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: StrictObject({ groupId: IdText, event: EventCursor }),
  result: Type.Object({
    groupId: IdText,
    message: Type.String({ description: 'of which it is from now on, <*> and the like for what differs' }),
  }),
  example: { event: EVENT_CURSOR_EXAMPLE },
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
      throw notSplit('is grouped by a fingerprint or says nothing, so its message cannot be split off');
    const tokens = tokensOfMessage(message.text);
    const text = textOfTemplate(tokens);
    const template = await stores.messageTemplates.findOfGroup(group.id);
    if (group.mergedIds.length === 0 && template !== null && textOfTemplate(template.tokens) === text) {
      throw notSplit('says what all events of this exception say, so there is nothing to split off');
    }
    const key = learnt === null ? keyOfSplit(grouping.key, text) : keyOfSplit(grouping.key);
    const target = await stores.exceptionGroups.findByKey(serviceId, key);
    if (target?.id === group.id) throw notSplit('is split off already');
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
    if (made == null) throw notSplit('belongs to a service that is being deleted');
    record({ target: made.groupId, before: {}, after: { splitFrom: group.id, message: text } });
    record({ target: group.id, before: {}, after: { splitOff: made.groupId } });
    await recordActivity(context, group.id, { kind: 'split_off', groupId: made.groupId });
    return { groupId: made.groupId, message: text };
  },
});

function notSplit(message: string): AppError {
  return new AppError('conflict', message, { faults: [{ path: 'event', message }] });
}

const CHANGES_MAX = 600;

/** Undoes a merge or a split that was a mistake. */
export const undoExceptionMerges = defineOperation({
  name: 'undo_exception_merges',
  summary:
    'Undo a merge or a split of exception groups: each is again part of what it was part of before. One that has been ' +
    'merged or split since is left alone.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: StrictObject({
    changes: Type.Array(
      StrictObject({ groupId: IdText, nowInGroupId: nullable(IdText), wasInGroupId: nullable(IdText) }),
      { minItems: 1, maxItems: CHANGES_MAX, description: 'null: a group of its own' },
    ),
  }),
  result: Type.Object({
    undone: Type.Array(Type.Object({ groupId: IdText, inGroupId: nullable(IdText) })),
    unchanged: Type.Integer({ description: 'somebody has merged or split them since' }),
  }),
  example: { changes: [{ groupId: EXAMPLE_IDS.groupId, nowInGroupId: EXAMPLE_IDS.otherGroupId, wasInGroupId: null }] },
  async handle({ changes }, context) {
    const { caller, stores, now, record } = context;
    const named = changes.flatMap(({ groupId, nowInGroupId, wasInGroupId }) => [groupId, nowInGroupId, wasInGroupId]);
    const groupIds = [...new Set(named.filter((id) => id !== null))];
    await stores.exceptionGroups.lockInOrder(caller.orgId, groupIds);
    for (const groupId of groupIds) await stores.exceptionGroups.get(caller.orgId, groupId, now);
    const undone: { groupId: Id<'group'>; inGroupId: Id<'group'> | null }[] = [];
    // Groups that become separate again come first: others may be part of them again.
    const inOrder = changes.toSorted((a, b) => Number(a.wasInGroupId !== null) - Number(b.wasInGroupId !== null));
    for (const { groupId, nowInGroupId, wasInGroupId } of inOrder) {
      const group = await stores.exceptionGroups.get(caller.orgId, groupId, now);
      if (group.mergedIntoId !== nowInGroupId || nowInGroupId === wasInGroupId) continue;
      let inGroupId: Id<'group'> | null = null;
      if (wasInGroupId === null) {
        await stores.groupMerges.split(group.id, now);
      } else {
        const taker = await stores.exceptionGroups.get(caller.orgId, wasInGroupId, now);
        const isFull = taker.mergedIds.length + group.mergedIds.length >= MERGED_MAX;
        const isAnother = taker.id !== group.id && taker.serviceId === group.serviceId;
        if (!isAnother || taker.mergedIntoId !== null || isFull) continue;
        await stores.groupMerges.merge([group.id], taker.id, now);
        inGroupId = taker.id;
      }
      const counted = [group.id, group.mergedIntoId, inGroupId].filter((id) => id !== null);
      await stores.exceptionCounts.markDue(counted, now);
      record({ target: group.id, before: { mergedInto: group.mergedIntoId }, after: { mergedInto: inGroupId } });
      if (group.mergedIntoId !== null) {
        record({ target: group.mergedIntoId, before: { part: group.id }, after: { part: null } });
        await recordActivity(context, group.mergedIntoId, { kind: 'split_off', groupId: group.id });
      }
      if (inGroupId !== null) {
        record({ target: inGroupId, before: { part: null }, after: { part: group.id } });
        await recordActivity(context, inGroupId, { kind: 'merged', groups: 1 });
      }
      undone.push({ groupId: group.id, inGroupId });
    }
    return { undone, unchanged: changes.length - undone.length };
  },
});
