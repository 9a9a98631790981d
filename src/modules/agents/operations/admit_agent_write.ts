import type { AnyOperation } from '#actions/action_context.ts';
import { AppError } from '#kernel/errors.ts';
import type { Limits } from '#kernel/limit_settings.ts';
import { type Permission, PERMISSIONS, type Role, ROLE_PERMISSIONS } from '#kernel/permissions.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import { capOf } from '#modules/agents/decide/agent_settings.ts';
import type { UnitOfWork } from '#modules/stores.ts';

const RETRY_AFTER_SECONDS = 300;

/**
 * Counts a change by an agent in its cap, in the transaction of the change. Throws `forbidden` while the agents of the
 * organization are stopped, and `rate_limited` beyond the cap.
 */
export async function admitAgentWrite(
  { stores, now }: UnitOfWork,
  { orgId, actor, responder }: Caller,
  operation: AnyOperation,
  { agentWritesAnHour }: Pick<Limits, 'agentWritesAnHour'>,
): Promise<void> {
  const settings = await stores.responders.shareSettings(orgId);
  if (settings.areStopped) throw agentsStopped();
  if (responder !== undefined && !(await stores.responders.isResponder(orgId, responder.agentId))) {
    throw new AppError('forbidden', 'this agent may no longer respond to incidents');
  }
  const agentId = responder?.agentId ?? agentIdOf(actor);
  const cap = capOf(settings, responder !== undefined, agentWritesAnHour);
  if (cap === null || agentId === null || isExemptFromCap(operation)) return;
  if (await stores.responders.countWrite(agentId, cap, now)) return;
  throw new AppError('rate_limited', `this agent has made ${cap} changes within an hour, which is its cap here`, {
    ...(settings.writesAnHour === null && { limit: 'agentWritesAnHour' as const }),
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

function isExemptFromCap(operation: AnyOperation): boolean {
  return operation.consoleOnly === true && operation.isExemptFromCap === true;
}

/** Returns the connection or the key that an agent acts through; null for a person. */
export function agentIdOf(actor: Caller['actor']): string | null {
  switch (actor.kind) {
    case 'user':
      return actor.connection?.connectionId ?? actor.apiKeyId;
    case 'api_key':
      return actor.apiKeyId;
    case 'system':
      return null;
  }
}

export function agentsStopped(): AppError {
  return new AppError(
    'forbidden',
    'the organization has stopped all agents; only its owners can allow them again, in the settings',
  );
}

/** Returns the permissions of a key to change something; `role` is its user's, null for a key of the organization. */
export function changesOfKey(permissions: readonly Permission[] | null, role: Role | null): Permission[] {
  const ceiling = role === null ? PERMISSIONS : ROLE_PERMISSIONS[role];
  return ceiling.filter(
    (permission) => !permission.endsWith(':view') && (permissions === null || permissions.includes(permission)),
  );
}

/** Explains why a key with these permissions cannot respond to incidents: an agent proposes, and people decide. */
export function keyMayOnlyLook(changes: readonly Permission[]): string {
  return `a key that responds to incidents must only look, and this one has ${changes.join(', ')}; create one with permissions to view alone`;
}
