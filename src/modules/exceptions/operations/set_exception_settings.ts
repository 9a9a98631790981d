import { Type } from 'typebox';

import { changesSince, defineOperation } from '#actions/action_context.ts';
import { IdText, nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import { toTimestampOrNull } from '#kernel/time.ts';
import { type ExceptionSettings, INBOUND_FILTERS, NO_SETTINGS } from '#modules/exceptions/decide/inbound_filters.ts';

const ENTRIES_MAX = 50;

export const SETTINGS_FIELDS = {
  filters: Type.Array(Type.Enum([...INBOUND_FILTERS]), { maxItems: INBOUND_FILTERS.length, uniqueItems: true }),
  patterns: Type.Array(Type.String({ minLength: 1, maxLength: 200, pattern: '[^*]' }), {
    maxItems: ENTRIES_MAX,
    description: 'an event whose message, or `Type: value`, is like one of these is left out; `*` stands for anything',
  }),
  secretNames: Type.Array(Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' }), {
    maxItems: ENTRIES_MAX,
    description: 'fields whose values are left out, besides passwords, tokens and the like, which always are',
  }),
  eventsPerHour: nullable(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000_000,
      description: 'beyond it, events of exceptions that are known already are not stored; null for no limit',
    }),
  ),
};

/** Fields that are learnt from the usual traffic of the service. */
const LEARNT_FIELDS = {
  learnsSpikes: Type.Boolean({ description: 'a limit follows from the usual traffic of the last week' }),
  learntPerHour: nullable(Type.Integer({ description: 'events an hour; null while less than a day is known' })),
  learntAt: nullable(Timestamp),
};

const SETTINGS_EXAMPLE = {
  filters: ['bots' as const, 'browser_extensions' as const],
  patterns: ['ResizeObserver loop *'],
  secretNames: ['iban'],
  eventsPerHour: 10_000,
};

export const setExceptionSettings = defineOperation({
  name: 'set_exception_settings',
  summary:
    'Choose which exceptions of a service are left out, which fields are, and how many are kept within an hour, unless somebody else has changed the same since it was read.',
  permission: 'services:edit',
  effect: 'write',
  input: StrictObject({
    serviceId: IdText,
    ...SETTINGS_FIELDS,
    learnsSpikes: Type.Optional(LEARNT_FIELDS.learnsSpikes),
    basedOn: Type.Optional(
      StrictObject({ ...SETTINGS_FIELDS, learnsSpikes: LEARNT_FIELDS.learnsSpikes }, { description: 'what was read' }),
    ),
  }),
  result: Type.Object({ ...SETTINGS_FIELDS, learnsSpikes: LEARNT_FIELDS.learnsSpikes }),
  conflict: 'somebody has changed the same since it was read',
  example: { ...SETTINGS_EXAMPLE, learnsSpikes: true, basedOn: { ...SETTINGS_EXAMPLE, learnsSpikes: false } },
  async handle({ serviceId, basedOn, learnsSpikes = false, ...given }, { caller, stores, now, record }) {
    const { id } = await stores.services.lock(caller.orgId, serviceId);
    const stored = (await stores.exceptionSettings.find([id])).get(id) ?? NO_SETTINGS;
    // The limit on spikes is one value for conflicts: two edits of it are never mixed.
    const before = { ...listsOf(stored), spikes: spikesOf(stored) };
    const wanted = { ...given, learnsSpikes };
    const read = basedOn && { ...listsOf(basedOn), spikes: spikesOf(basedOn) };
    const { spikes, ...changes } = {
      ...before,
      ...changesSince(read, before, { ...listsOf(wanted), spikes: spikesOf(wanted) }, 'these settings'),
    };
    const settings = { ...changes, ...spikes };
    await stores.exceptionSettings.save(id, settings, now);
    record({ target: id, before: { ...listsOf(stored), ...before.spikes }, after: settings });
    return settings;
  },
});

function spikesOf({ eventsPerHour, learnsSpikes }: Pick<ExceptionSettings, 'eventsPerHour' | 'learnsSpikes'>) {
  return { eventsPerHour, learnsSpikes };
}

function listsOf({ filters, patterns, secretNames }: Pick<ExceptionSettings, 'filters' | 'patterns' | 'secretNames'>) {
  return { filters: [...filters], patterns: [...patterns], secretNames: [...secretNames] };
}

export const getExceptionSettings = defineOperation({
  name: 'get_exception_settings',
  summary: 'Show which exceptions of a service are left out, which fields are, and how many are kept within an hour.',
  permission: 'services:view',
  effect: 'read',
  input: StrictObject({ serviceId: IdText }),
  result: Type.Object({ ...SETTINGS_FIELDS, ...LEARNT_FIELDS }),
  async handle({ serviceId }, { caller, stores }) {
    const { id } = await stores.services.get(caller.orgId, serviceId);
    const settings = (await stores.exceptionSettings.find([id])).get(id);
    const { filters, patterns, secretNames, eventsPerHour, learnsSpikes } = settings ?? NO_SETTINGS;
    return {
      filters: [...filters],
      patterns: [...patterns],
      secretNames: [...secretNames],
      eventsPerHour,
      learnsSpikes,
      learntPerHour: settings?.learntPerHour ?? null,
      learntAt: toTimestampOrNull(settings?.learntAt ?? null),
    };
  },
});
