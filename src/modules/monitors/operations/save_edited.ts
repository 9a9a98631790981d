import { Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { toMonitorFields } from '#modules/monitors/operations/view.ts';
import { type MonitorState, overdueFrom } from '#modules/monitors/decide/monitor.ts';
import { AppError } from '#kernel/errors.ts';
import { toTimestampOrNull } from '#kernel/time.ts';

export const BasedOn = nullable(Type.String({ maxLength: 40, description: 'the editedAt of what was read' }));

export const EditedMonitorView = Type.Object({
  monitorId: IdText,
  editedAt: nullable(Timestamp),
  nextDueAt: nullable(Timestamp),
});

/** Changes what is expected of a job, unless somebody else has since it was read. */
export async function saveEdited(
  monitorId: string,
  basedOn: string | null,
  edit: (monitor: MonitorState) => MonitorState,
  { caller, stores, now, record }: ActionContext,
) {
  const monitor = await stores.monitors.lock(caller.orgId, monitorId);
  if ((monitor.editedConfig?.at ?? null) !== basedOn) {
    throw new AppError('conflict', 'somebody has changed this monitor since you opened it');
  }
  const edited = edit(monitor);
  const running = await stores.monitors.listRunning(monitor.id);
  await stores.monitors.save(monitor.id, edited, overdueFrom(edited, running), now);
  await stores.monitors.keep(monitor.id);
  record({
    target: monitor.id,
    before: toMonitorFields(monitor),
    after: toMonitorFields({ ...monitor, ...edited }),
  });
  return {
    monitorId: monitor.id,
    editedAt: edited.editedConfig?.at ?? null,
    nextDueAt: toTimestampOrNull(edited.nextDueAt),
  };
}
