import { Type } from 'typebox';

import { nullable, Timestamp } from '#actions/fields.ts';
import { INBOUND_FILTERS } from '#modules/exceptions/decide/inbound_filters.ts';

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
export const LEARNT_FIELDS = {
  learnsSpikes: Type.Boolean({ description: 'a limit follows from the usual traffic of the last week' }),
  learntPerHour: nullable(Type.Integer({ description: 'events an hour; null while less than a day is known' })),
  learntAt: nullable(Timestamp),
};

export const SETTINGS_EXAMPLE = {
  filters: ['bots' as const, 'browser_extensions' as const],
  patterns: ['ResizeObserver loop *'],
  secretNames: ['iban'],
  eventsPerHour: 10_000,
};
