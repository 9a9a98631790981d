import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText, Timestamp } from '#actions/fields.ts';
import {
  MAINTENANCE_EXAMPLE,
  MAINTENANCE_FIELDS,
  readMaintenance,
} from '#modules/maintenance/operations/maintenance_input.ts';
import { haveCommonSubject, nextMaintenance, nextOverlap, rulesOf } from '#modules/maintenance/decide/maintenance.ts';
import { type Temporal, toTimestamp } from '#kernel/time.ts';
import { ZoneClocks } from '#kernel/zone_clock.ts';

const Span = { startsAt: Timestamp, endsAt: Timestamp };
const NEXT_SHOWN = 3;
const CONFLICTS_SHOWN = 10;
/** Limit on the windows for the same thing that are compared; each comparison looks at some weeks. */
const COMPARED_MAX = 40;

/** Shows the effect of a window before it is created. */
export const previewMaintenance = defineAction({
  name: 'preview_maintenance',
  consoleOnly: true,
  summary:
    'Say when a maintenance window would be in effect next, how many rules it would keep quiet, and which windows for the same thing overlap with it.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object({ maintenanceId: Type.Optional(IdText), ...MAINTENANCE_FIELDS }, STRICT),
  result: Type.Object({
    next: Type.Array(Type.Object(Span), { description: `at most ${NEXT_SHOWN}` }),
    ruleCount: Type.Integer({ description: 'rules that it keeps quiet' }),
    conflicts: Type.Array(Type.Object({ maintenanceId: IdText, name: Type.String(), ...Span }), {
      description: `other windows for the same thing, with the next time in which both are in effect; at most ${CONFLICTS_SHOWN}`,
    }),
    conflictCount: Type.Integer({ description: `of the newest ${COMPARED_MAX} windows for the same thing` }),
  }),
  example: {
    maintenanceId: EXAMPLE_IDS.maintenanceId,
    ...MAINTENANCE_EXAMPLE,
    target: { serviceId: EXAMPLE_IDS.serviceId },
  },
  async handle({ maintenanceId, ...input }, context) {
    const { stores, caller, now } = context;
    const wanted = await readMaintenance(input, context);
    const rules = await stores.maintenance.listRules(caller.orgId);
    const windows = await stores.maintenance.list(caller.orgId);
    const clocks = new ZoneClocks();
    const conflicts = windows
      .filter((window) => window.id !== maintenanceId && haveCommonSubject(window, wanted, rules))
      .slice(0, COMPARED_MAX)
      .flatMap((window) => {
        const overlap = nextOverlap(window, wanted, now, clocks);
        return overlap === null ? [] : { maintenanceId: window.id, name: window.name, ...toSpan(overlap) };
      });
    const next: { startsAt: string; endsAt: string }[] = [];
    for (let from = now; next.length < NEXT_SHOWN;) {
      const upcoming = nextMaintenance(wanted, from, clocks);
      if (upcoming === null) break;
      next.push(toSpan(upcoming));
      from = upcoming.endsAt;
    }
    return {
      next,
      ruleCount: rulesOf(wanted, rules).length,
      conflicts: conflicts.slice(0, CONFLICTS_SHOWN),
      conflictCount: conflicts.length,
    };
  },
});

function toSpan(span: { readonly startsAt: Temporal.Instant; readonly endsAt: Temporal.Instant }) {
  return { startsAt: toTimestamp(span.startsAt), endsAt: toTimestamp(span.endsAt) };
}
