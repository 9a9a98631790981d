import type { Change } from '#actions/action_context.ts';
import { OPERATIONS_ON_MANAGED } from '#modules/configuration/decide/managed_changes.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import { AppError } from '#kernel/errors.ts';
import type { Stores } from '#modules/stores.ts';

/**
 * Throws `conflict` for a change of what a configuration file manages, if the organization has chosen that only files
 * change it.
 */
export async function requireUnmanaged(
  { configuration }: Pick<Stores, 'configuration'>,
  { orgId, appliesFile }: Pick<Caller, 'orgId' | 'appliesFile'>,
  changes: readonly (Change & { readonly action: string })[],
): Promise<void> {
  if (appliesFile === true) return;
  const targets = changes.filter(isOfFiles).map(({ target }) => target);
  if (targets.length === 0) return;
  const managed = await configuration.findRefused(orgId, targets);
  if (managed === null) return;
  throw new AppError(
    'conflict',
    `the configuration file ${managed.file} manages this as ${managed.key}, and your organization changes such things only there; change the file and apply it`,
  );
}

/** Whether a file could say it. Operations on keys of alerts may also set the policy of the last route. */
function isOfFiles({ action, after }: Change & { readonly action: string }): boolean {
  return OPERATIONS_ON_MANAGED.has(action) || (after !== null && 'lastRoutePolicyId' in after);
}
