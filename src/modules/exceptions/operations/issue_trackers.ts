import { isDeepStrictEqual } from 'node:util';

import { type Static, Type } from 'typebox';

import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { IdText, nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import { externalAddressFault } from '#auth/external_fetch.ts';
import { AppError, connectionFault, invalidInput } from '#kernel/errors.ts';
import { toTimestamp } from '#kernel/time.ts';
import {
  projectRequest,
  refusalOf,
  TRACKER_KINDS,
  trackerDeclarationOf,
  type TrackerKind,
  type TrackerRefusal,
  type TrackerRequest,
  TRACKERS_MAX,
  type TrackerSettings,
} from '#modules/exceptions/decide/issue_tracker.ts';
import type { IssueTrackerRow } from '#modules/exceptions/store/issue_tracker_store.ts';

/** Longest time that a tracker may take for an answer. */
const TIMEOUT_MS = 10_000;

const TrackerView = Type.Object({
  trackerId: IdText,
  kind: Type.Enum([...TRACKER_KINDS]),
  title: Type.String({ description: 'kind of tracker, in words' }),
  address: Type.String(),
  account: nullable(Type.String({ description: 'mail address of the account, where the tracker asks for one' })),
  project: Type.String({ description: 'repository or project, unless a service names another' }),
  issueType: nullable(Type.String()),
  createdAt: Timestamp,
});

function toTrackerView(tracker: IssueTrackerRow): Static<typeof TrackerView> {
  const { id: trackerId, kind, address, account, project, issueType } = tracker;
  const { title } = trackerDeclarationOf(kind);
  return { trackerId, kind, title, address, account, project, issueType, createdAt: toTimestamp(tracker.createdAt) };
}

function auditedTracker({ kind, address, account, project, issueType }: IssueTrackerRow): object {
  return { kind, address, account, project, issueType };
}

/** Sends a request to a tracker; returns its answer, or its refusal in our own words. */
export async function callTracker(
  { installation }: Pick<ActionContext, 'installation'>,
  tracker: TrackerSettings,
  { method, url, headers, body }: TrackerRequest,
): Promise<{ readonly answer: unknown; readonly refusal: TrackerRefusal | null }> {
  const { title } = trackerDeclarationOf(tracker.kind);
  try {
    const response = await installation.trackerFetch(url, {
      method,
      headers,
      body,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const [retryAfter, remaining] = ['retry-after', 'x-ratelimit-remaining'].map((name) => response.headers.get(name));
    const answer = parseJson(await response.text());
    const { status } = response;
    const read = { status, retryAfter: retryAfter ?? null, remaining: remaining ?? null, body: answer };
    return { answer, refusal: refusalOf(tracker, read) };
  } catch (error) {
    return { answer: null, refusal: { field: 'address', message: `${title}: ${connectionFault(error)}` } };
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const Text = Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' });

const TrackerFields = {
  address: Type.String({
    maxLength: 500,
    description: 'address of the vendor or of your own server, as people open it in a browser',
  }),
  account: Type.Optional(Type.String({ maxLength: 200, description: 'mail address of the account; for Jira' })),
  project: Text,
  issueType: Type.Optional(Type.String({ maxLength: 60, description: 'for Jira; when left out, Bug' })),
};

const TRACKER_EXAMPLE = {
  address: 'https://acme.atlassian.net',
  account: 'anna@example.com',
  project: 'SHOP',
  issueType: 'Bug',
};

const Token = Type.String({ minLength: 1, maxLength: 2_000, description: 'stored encrypted and never shown' });

type Typed = { readonly [Field in keyof typeof TrackerFields]?: string };

/** Reads the settings that people type. Throws `invalid_input` for each that cannot be right. */
async function readSettings(
  kind: TrackerKind,
  { address = '', account = '', project = '', issueType = '' }: Typed,
  { installation }: ActionContext,
): Promise<TrackerSettings> {
  const declared = trackerDeclarationOf(kind);
  const settings = {
    kind,
    address: address.trim().replace(/\/+$/, ''),
    account: declared.hasAccount ? account.trim() : null,
    project: project.trim(),
    issueType: declared.hasAccount ? issueType.trim() || 'Bug' : null,
  };
  const faults = [
    { path: 'address', message: await externalAddressFault(settings.address, installation) },
    {
      path: 'account',
      message:
        settings.account === null || /^[^\s@:]+@[^\s@:]+$/.test(settings.account) ? null : 'must be a mail address',
    },
    { path: 'project', message: projectFault(kind, settings.project) },
  ];
  const wrong = faults.flatMap(({ path, message }) => (message === null ? [] : [{ path, message }]));
  if (wrong.length > 0) throw invalidInput(wrong);
  return settings;
}

function projectFault(kind: TrackerKind, project: string): string | null {
  const { pattern, example } = trackerDeclarationOf(kind).project;
  return pattern.test(project) ? null : `must be like ${example}`;
}

/** Asks the tracker for the project. Throws `invalid_input` at the field that is wrong, or `unavailable`. */
async function requireProject(
  context: ActionContext,
  tracker: TrackerSettings,
  token: string,
  fields: { readonly token: string; readonly project: string },
): Promise<void> {
  const { refusal } = await callTracker(context, tracker, projectRequest(tracker, token));
  if (refusal === null) return;
  const { field, message, retryAfterSeconds } = refusal;
  if (field === null) throw new AppError('unavailable', message, { ...(retryAfterSeconds && { retryAfterSeconds }) });
  throw invalidInput([{ path: field === 'token' || field === 'project' ? fields[field] : field, message }]);
}

const OWN_FIELDS = { token: 'token', project: 'project' };

export const listIssueTrackers = defineOperation({
  name: 'list_issue_trackers',
  summary: 'List the issue trackers of the organization: the first is for services that name no other.',
  permission: 'services:view',
  effect: 'read',
  result: Type.Object({ trackers: Type.Array(TrackerView) }),
  async handle(_input, { caller, stores }) {
    return { trackers: (await stores.issueTrackers.list(caller.orgId)).map(toTrackerView) };
  },
});

export const createIssueTracker = defineOperation({
  name: 'create_issue_tracker',
  stepUp: true,
  summary: 'Add an issue tracker, in which people create issues about exceptions. Its token is tried first.',
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({ kind: Type.Enum([...TRACKER_KINDS]), ...TrackerFields, token: Token }),
  result: Type.Object({ tracker: TrackerView }),
  conflict: 'the organization has as many issue trackers as it may have',
  example: { kind: 'jira', ...TRACKER_EXAMPLE, token: 'token-of-jira' },
  async prepare({ kind, token, ...typed }, context) {
    const settings = await readSettings(kind, typed, context);
    await requireProject(context, settings, token.trim(), OWN_FIELDS);
    return settings;
  },
  async handle({ token }, { caller, stores, now, record, installation }, settings) {
    if ((await stores.issueTrackers.list(caller.orgId)).length >= TRACKERS_MAX) {
      throw new AppError('conflict', `an organization has at most ${TRACKERS_MAX} issue trackers; delete one first`);
    }
    const sealed = installation.ciphers.issueTrackers.encrypt(token.trim());
    const tracker = await stores.issueTrackers.insert({ orgId: caller.orgId, ...settings, sealed, createdAt: now });
    record({ target: tracker.id, before: null, after: auditedTracker(tracker) });
    return { tracker: toTrackerView(tracker) };
  },
});

export const updateIssueTracker = defineOperation({
  name: 'update_issue_tracker',
  stepUp: true,
  summary:
    'Change an issue tracker, unless somebody else has changed the same since it was read. Without a token it keeps its own, unless its address or account changes.',
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({
    trackerId: IdText,
    ...TrackerFields,
    token: Type.Optional(Token),
    basedOn: Type.Optional(
      StrictObject(
        {
          address: Type.String(),
          account: nullable(Type.String()),
          project: Type.String(),
          issueType: nullable(Type.String()),
        },
        { description: 'what was read' },
      ),
    ),
  }),
  result: Type.Object({ tracker: TrackerView }),
  conflict: 'somebody has changed the tracker since it was read',
  example: { ...TRACKER_EXAMPLE, token: 'token-of-jira', basedOn: { ...TRACKER_EXAMPLE, issueType: 'Task' } },
  async prepare({ trackerId, token, basedOn: _, ...typed }, context) {
    const { stores, caller, installation } = context;
    const before = await stores.issueTrackers.get(caller.orgId, trackerId);
    const settings = await readSettings(before.kind, typed, context);
    // The token of one account or server must not be sent to another.
    if (token === undefined && (settings.address !== before.address || settings.account !== before.account)) {
      throw invalidInput([{ path: 'token', message: 'is required again with another address or account' }]);
    }
    const secret = token?.trim() ?? installation.ciphers.issueTrackers.decrypt(before.sealed);
    await requireProject(context, settings, secret, OWN_FIELDS);
    return { settings, secret };
  },
  async handle({ trackerId, token, basedOn }, { caller, stores, record, installation }, { settings, secret }) {
    const before = await stores.issueTrackers.lock(caller.orgId, trackerId);
    const { address, account, project, issueType } = before;
    // As a whole: the token of one server must not go to another that somebody has named meanwhile.
    if (basedOn !== undefined && !isDeepStrictEqual(basedOn, { address, account, project, issueType })) {
      throw new AppError('conflict', 'somebody has changed this tracker since you opened it');
    }
    const { kind: _, ...changed } = settings;
    await stores.issueTrackers.save(before.id, {
      ...changed,
      sealed: installation.ciphers.issueTrackers.encrypt(secret),
    });
    const after = await stores.issueTrackers.get(caller.orgId, before.id);
    const replaced = token !== undefined && { token: 'replaced' };
    record({ target: before.id, before: auditedTracker(before), after: { ...auditedTracker(after), ...replaced } });
    return { tracker: toTrackerView(after) };
  },
});

export const deleteIssueTracker = defineOperation({
  name: 'delete_issue_tracker',
  stepUp: true,
  summary: 'Delete an issue tracker here, with its token. Issues in it stay, and exceptions keep their links to them.',
  permission: 'organization:manage',
  effect: 'delete',
  input: StrictObject({ trackerId: IdText }),
  result: Type.Object({ trackerId: IdText, deleted: Type.Boolean() }),
  async handle({ trackerId }, { caller, stores, record }) {
    const tracker = await stores.issueTrackers.lock(caller.orgId, trackerId);
    await stores.issueTrackers.delete(tracker.id);
    record({ target: tracker.id, before: auditedTracker(tracker), after: null });
    return { trackerId: tracker.id, deleted: true };
  },
});

/** Checks the tracker of a service, and its project there. Throws `not_found`, `invalid_input` or `unavailable`. */
export async function requireServiceTracker(
  { trackerId, trackerProject }: { readonly trackerId: string | null; readonly trackerProject: string | null },
  context: ActionContext,
): Promise<void> {
  const { stores, caller, installation } = context;
  if (trackerId === null) {
    if (trackerProject === null) return;
    throw invalidInput([{ path: 'trackerProject', message: 'leave it out, or choose the tracker that it is in' }]);
  }
  const tracker = await stores.issueTrackers.get(caller.orgId, trackerId);
  if (trackerProject === null) return;
  const fault = projectFault(tracker.kind, trackerProject);
  if (fault !== null) throw invalidInput([{ path: 'trackerProject', message: fault }]);
  const token = installation.ciphers.issueTrackers.decrypt(tracker.sealed);
  const fields = { token: 'trackerId', project: 'trackerProject' };
  await requireProject(context, { ...tracker, project: trackerProject }, token, fields);
}
