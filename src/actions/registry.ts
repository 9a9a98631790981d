import type { AnyAction } from '#actions/action_context.ts';
import { createService } from '#actions/services/create_service.ts';
import { deleteService } from '#actions/services/delete_service.ts';
import { disableCapability } from '#actions/services/disable_capability.ts';
import { enableCapability } from '#actions/services/enable_capability.ts';
import { getService } from '#actions/services/get_service.ts';
import { listServices } from '#actions/services/list_services.ts';
import { rotateIngestKey } from '#actions/services/rotate_ingest_key.ts';
import { setRetention } from '#actions/services/set_retention.ts';
import { updateService } from '#actions/services/update_service.ts';

/** Every action, in the order of the contract (action-api §4). */
export const ACTIONS: readonly AnyAction[] = [
  listServices,
  getService,
  createService,
  updateService,
  deleteService,
  enableCapability,
  disableCapability,
  setRetention,
  rotateIngestKey,
];

const BY_NAME = new Map(ACTIONS.map((action) => [action.name, action]));

export function findAction(name: string): AnyAction | null {
  return BY_NAME.get(name) ?? null;
}

/** Up to three actions whose names are close to a misspelt one, for the error that answers it. */
export function nearestActionNames(name: string): string[] {
  return ACTIONS.map((action) => ({ name: action.name, distance: editDistance(name.slice(0, 60), action.name) }))
    .filter(({ name: known, distance }) => distance <= Math.ceil(known.length / 2))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map((near) => near.name);
}

/** Levenshtein distance. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [row, letter] of [...a].entries()) {
    const current = [row + 1];
    for (const [column, other] of [...b].entries()) {
      const substituted = (previous[column] ?? 0) + (letter === other ? 0 : 1);
      current.push(Math.min(substituted, (previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1));
    }
    previous = current;
  }
  return previous.at(-1) ?? 0;
}
