import { createHash } from 'node:crypto';

import { type ActionRuntime } from '#actions/run_action.ts';
import { openIngestKeyPair } from '#auth/ingest_access.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import { meaningOf } from '#modules/configuration/decide/meaning.ts';
import { operationOf } from '#modules/configuration/decide/operation_calls.ts';
import { canonicalText, type Plan, planConfiguration } from '#modules/configuration/decide/plan.ts';
import type { OrganizationState } from '#modules/configuration/decide/present_state.ts';
import {
  faultsAt,
  type FaultOfFile,
  readConfigurationFile,
  type ReadFile,
} from '#modules/configuration/decide/read_file.ts';
import { resourceSteps } from '#modules/configuration/decide/resources_of_file.ts';
import { AppError, type Fault, invalidInput } from '#kernel/errors.ts';
import { inSlices } from '#kernel/cooperative_task.ts';
import type { Permission } from '#kernel/permissions.ts';
import { storesOf } from '#modules/stores.ts';

export interface FileRequest {
  /** YAML, of which JSON is a part. */
  readonly text: string;
  /** Name by which the organization knows the file. */
  readonly fileName: string;
  /** Whether resources that the file made, and does not have any more, are deleted. */
  readonly prune: boolean;
}

/** Reading of texts, of which strangers can make the parser work long. */
export interface FileReading {
  read(orgId: string, text: string): Promise<ReadFile>;
  /** Adds to each fault the line of its path. */
  locate(orgId: string, text: string, faults: readonly Fault[]): Promise<readonly FaultOfFile[]>;
}

/** Reading in this thread, for a process that does nothing else meanwhile. */
const DIRECT: FileReading = {
  read: async (_orgId, text) => readConfigurationFile(text),
  locate: async (_orgId, text, faults) => faultsAt(text, faults).faults,
};

export interface ReadPlan {
  readonly plan: Plan;
  /** Meaning of the changes for people, as sentences. */
  readonly meaning: readonly string[];
  readonly notes: readonly string[];
  /** Text that is another one as soon as the file, or what it rests on, changes. */
  readonly fingerprint: string;
}

/** Permissions to see all that a plan shows. */
const VIEWS: readonly Permission[] = ['services:view', 'dashboards:view', 'oncall:view'];

/** Reads all that a file can say about the caller's organization. */
export async function readState(runtime: ActionRuntime, caller: Caller): Promise<OrganizationState> {
  requireViews(caller);
  const { configuration } = storesOf(runtime.db.session());
  return await configuration.read(
    caller.orgId,
    runtime.clock.now(),
    (secrets) => openIngestKeyPair(secrets, runtime.cipher).dsnKey,
  );
}

/** Throws `forbidden` for a caller who may not see what a plan shows. */
export function requireViews(caller: Caller): void {
  const missing = VIEWS.find((permission) => !caller.permissions.has(permission));
  if (missing === undefined) return;
  throw new AppError('forbidden', `a configuration file needs the permission ${missing} to be compared`);
}

/**
 * Decides what the file changes, without changing anything. Throws `invalid_input` with every fault of the file, its
 * line and path.
 */
export async function readPlan(
  runtime: ActionRuntime,
  caller: Caller,
  request: FileRequest,
  files: FileReading = DIRECT,
): Promise<ReadPlan> {
  requireViews(caller);
  const file = await files.read(caller.orgId, request.text);
  if (file.kind === 'faults') throw refusedFile(request.fileName, file.faults);
  // Selectors of rules may hold patterns, which are compiled elsewhere.
  await runtime.patterns.prepare(caller.orgId, file.value);
  const state = await readState(runtime, caller);
  const recordedKeys = new Set(state.managed.map(({ kind, key }) => `${kind} ${key}`));
  const read = await inSlices(resourceSteps(file.value, (kind, key) => recordedKeys.has(`${kind} ${key}`)));
  await requireNoFaults(read.faults);
  const now = runtime.clock.now();
  const plan = await inSlices(planConfiguration(read.resources, state, { ...request, now }));
  await requireNoFaults(plan.faults);
  return {
    plan,
    meaning: await inSlices(meaningOf(plan, state, now)),
    notes: [...read.notes, ...plan.notes],
    fingerprint: fingerprintOf(plan),
  };

  async function requireNoFaults(faults: readonly Fault[]): Promise<void> {
    if (faults.length > 0) throw refusedFile(request.fileName, await files.locate(caller.orgId, request.text, faults));
  }
}

/** Returns the refusal of a file: each fault with the file, its line and its path. */
function refusedFile(fileName: string, faults: readonly FaultOfFile[]): AppError {
  return invalidInput(
    faults.map(({ path, message, line }) => {
      const place = `${fileName}${line === null ? '' : `:${line}`}`;
      return { path: `${place}${path === '' ? '' : ` ${path}`}`, message };
    }),
  );
}

function fingerprintOf({ changes, records }: Plan): string {
  const steps = changes.map((change) => {
    const { action, kind, key, id, basis, fields } = change;
    return [action, kind, key, id, basis, fields, operationOf(change)];
  });
  return createHash('sha256')
    .update(canonicalText([steps, records]))
    .digest('hex')
    .slice(0, 32);
}
