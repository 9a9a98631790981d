import { isDeepStrictEqual } from 'node:util';
import type { Static, TObject, TSchema } from 'typebox';

import { EXAMPLE_IDS } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';
import type { AuditedBy } from '#modules/audit/store/audit_store.ts';
import type { UnitOfWork, UnitOfWorkRuntime } from '#modules/stores.ts';
import type { Cipher } from '#auth/cipher.ts';
import type { ProviderFetch } from '#auth/external_fetch.ts';
import type { OpenIdClient } from '#auth/openid/client.ts';
import type { ConnectRequest } from '#auth/oauth/connect_request.ts';
import type { Visitor } from '#auth/sessions.ts';
import type { Channel } from '#modules/contacts/decide/channel.ts';
import type { Senders } from '#modules/contacts/decide/contact.ts';
import {
  type AccountOperation,
  type Action,
  type ConsoleOperation,
  type Effect,
  StrictObject,
} from '#kernel/action.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import type { Limits } from '#kernel/limit_settings.ts';
import type { RequestOrigin, ThroughProposal } from '#kernel/caller.ts';
import type { Id } from '#kernel/ids.ts';
import type { OperationPermission } from '#kernel/permissions.ts';
import type { MoveInWorker } from '#modules/moving_in/decide/move_in_state.ts';
import type { SourceMaps } from '#modules/releases/source_maps/source_maps.ts';
import type { ExceptionReader } from '#modules/exceptions/store/exception_reader.ts';
import type { MetricReader } from '#modules/metrics/store/metric_reader.ts';
import type { ReleaseReader } from '#modules/releases/store/release_reader.ts';
import type { SessionOfPerson } from '#modules/accounts/store/session_store.ts';

/** A change by an action, for the audit log: no secrets in either side. `null` means "was not" or "is no more". */
export interface Change {
  readonly target: string;
  readonly before: object | null;
  readonly after: object | null;
}

/** A call that an action would accept, as far as its input says. */
export interface CheckedCall {
  readonly effect: Effect;
  readonly permission: OperationPermission;
}

/** Setup of this installation, as far as operations of the console need it. */
export interface Installation {
  readonly limits: Limits;
  /** Whether mail is sent to people about their accounts. */
  readonly hasMail: boolean;
  /** Domain of the addresses at which API processes take alerts by mail; null where they take none. */
  readonly mailInDomain: string | null;
  /** Whether the operator has given a contact that push services take. */
  readonly hasPushContact: boolean;
  /** Asks the mail server, at most every five minutes, why no mail would leave; null when it would. */
  readonly findMailFault: () => Promise<string | null>;
  readonly phoneProvider: 'twilio' | 'simulator';
  /** Release of the time zone database in use, and what is wrong with it. */
  readonly timeZoneRules: { readonly used: string; readonly fault: string | null };
  /** The channels whose messages go to the phone simulator, and so to nobody. */
  readonly simulatedChannels: ReadonlySet<Channel>;
  /** Secret address of the page of the phone simulator; null if there is none, or none that a browser reaches. */
  readonly simulatorUrl: string | null;
  /** Pattern of `LIKE` for the providers' ids of messages that went to the phone simulator, now or before. */
  readonly simulatedIds: string;
  readonly senders: Senders;
  /** Public key for `PushManager.subscribe` in browsers. */
  readonly vapidPublicKey: string;
  /** Client of the OpenID Connect providers of organizations. */
  readonly openId: OpenIdClient;
  /** Returns the TXT records of a name; none if it has none. Throws `unavailable` if the DNS does not answer. */
  readonly findTextRecords: (hostname: string) => Promise<readonly string[]>;
  /** Whether the operator has configured a folder for streams of audit logs. */
  readonly hasAuditFolder: boolean;
  /** Whether addresses of this machine and of private networks may be used, also without TLS. */
  readonly allowsInternalAddresses: boolean;
  /** Asks the DNS whether a host name stands for an address that is not public. */
  readonly isPrivateHost: (hostname: string) => Promise<boolean>;
  /**
   * Yields all of an organization but its secrets as an archive, which `tocsin import` reads. Throws `conflict` while the
   * process makes another one for it, and `rate_limited` while it makes as many as it can.
   */
  readonly exportOrganization: (orgId: Id<'org'>) => AsyncIterable<Uint8Array>;
  /** Calls the APIs of issue trackers that organizations name. */
  readonly trackerFetch: ProviderFetch;
  readonly ciphers: {
    readonly calendarFeeds: Cipher;
    readonly invitations: Cipher;
    readonly secondFactors: Cipher;
    readonly eventAttachments: Cipher;
    readonly openIdSecrets: Cipher;
    readonly places: Cipher;
    readonly auditStreams: Cipher;
    readonly issueTrackers: Cipher;
    readonly organizationExports: Cipher;
  };
}

interface OperationContext extends UnitOfWork {
  readonly installation: Installation;
  /** The public address, without a slash at its end. */
  readonly baseUrl: string;
}

/** Context of a handler. It has nothing of HTTP or MCP; the handler checks no permission and begins no transaction. */
export interface ActionContext extends OperationContext {
  readonly caller: Caller;
  readonly origin: RequestOrigin;
  /** Reads, plans and applies moves from other tools. */
  readonly moveIns: MoveInWorker;
  /** Address that the call comes from; null for the command line. */
  readonly address: string | null;
  readonly metrics: MetricReader;
  readonly exceptions: ExceptionReader;
  readonly releases: ReleaseReader;
  /** Time limit on reading telemetry that only adds to an answer, so that a slow store does not delay it. */
  readonly telemetryMsMax: number;
  /** Maps events that came before their source maps. */
  readonly sourceMaps: Pick<SourceMaps, 'mapEvents'>;
  readonly cipher: Cipher;
  /** The channels that the operator has set up. */
  readonly configuredChannels: ReadonlySet<Channel>;
  /** Records a change for the audit log. A call whose two sides are equal is no change. */
  record(change: Change): void;
  /**
   * Checks a call of an action of the contract, and returns its effect and permission. Throws `unknown_action`, or
   * `invalid_input` for what the action would refuse of its input.
   */
  checkCall(name: string, input: unknown): CheckedCall;
  /**
   * Runs an action of the contract in the transaction of this change, for the same caller and with their permissions,
   * because they approve a proposal. It is audited under its own name, with the agent that proposed it.
   */
  runApproved(name: string, input: unknown, proposal: ThroughProposal): Promise<unknown>;
  /** Records for the audit log that credentials of `target` are in the result. */
  recordCredentialRead(target: string): void;
}

/** The browser that asks: who it is, and what it keeps. What it is given takes effect only if all is committed. */
export interface Browser extends Visitor {
  /** Returns the person signed in with their password; null for nobody, and for a sign-in through a provider. */
  findSignedIn(): Promise<Id<'user'> | null>;
  /** Returns the secret by which answers of a provider belong to this browser; null without one. */
  readSignInSecret(): string | null;
  giveSignInSecret(secret: string): void;
  giveSession(token: string, email: string): void;
  takeSessionAway(): void;
  /** Returns the request of an app to be connected that this browser is asked about. Throws `not_found`. */
  getConnectRequest(uid: string): Promise<ConnectRequest>;
}

export interface AccountChange extends Change {
  readonly userId: Id<'user'>;
  /** Name of the action; when left out, that of the operation. */
  readonly action?: string;
  /** Organization whose audit log gets it; when left out, each that the person is a member of. */
  readonly orgId?: Id<'org'>;
}

/** Context of a handler of an operation on an account. */
export interface AccountContext extends OperationContext {
  readonly browser: Browser;
  readonly origin: RequestOrigin;
  /** Runtime for `prepare`: transactions that it commits stay committed. */
  readonly runtime: UnitOfWorkRuntime;
  /** Records a change for the audit log, made by the person themselves. */
  record(change: AccountChange): void;
}

export interface SignedInContext extends AccountContext {
  readonly session: SessionOfPerson;
}

/** Declares an action of the contract; see `kernel/action.ts`. */
export function defineAction<Input extends TObject, Result extends TSchema, const Name extends string, Prepared>(
  action: Action<ActionContext, Input, Result, Name, Prepared>,
): Action<ActionContext, Input, Result, Name, Prepared> {
  return action;
}

const NO_INPUT = StrictObject({});

/** Declaration of an operation of the console: without `input` it takes none. Its example need not name required ids. */
type Declared<Operation extends object, Input extends TObject> = Omit<
  Operation,
  'consoleOnly' | 'input' | 'example'
> & { readonly input?: Input; readonly example?: Partial<Static<Input>> };

/** Declares an operation of the console, within an organization or on an account; see `kernel/action.ts`. */
export function defineOperation<
  Result extends TSchema,
  const Name extends string,
  Prepared,
  Input extends TObject = typeof NO_INPUT,
>(
  operation: Declared<ConsoleOperation<ActionContext, Input, Result, Name, Prepared>, Input>,
): ConsoleOperation<ActionContext, Input, Result, Name, Prepared>;
export function defineOperation<
  Result extends TSchema,
  const Name extends string,
  Prepared,
  Input extends TObject = typeof NO_INPUT,
>(
  operation: Declared<AccountOperation<SignedInContext, 'signed_in', Input, Result, Name, Prepared>, Input>,
): AccountOperation<SignedInContext, 'signed_in', Input, Result, Name, Prepared>;
export function defineOperation<
  Result extends TSchema,
  const Name extends string,
  Prepared,
  Input extends TObject = typeof NO_INPUT,
>(
  operation: Declared<AccountOperation<AccountContext, 'anyone', Input, Result, Name, Prepared>, Input>,
): AccountOperation<AccountContext, 'anyone', Input, Result, Name, Prepared>;
export function defineOperation({ input = NO_INPUT, example = {}, ...operation }: Declared<object, TObject>): unknown {
  return { ...operation, input, example: { ...exampleIds(input), ...example }, consoleOnly: true };
}

/** Returns the ids of the examples for the required fields that are named like them. */
function exampleIds({ required = [] }: { readonly required?: readonly string[] }): Record<string, string> {
  const ids: Readonly<Record<string, string>> = EXAMPLE_IDS;
  return Object.fromEntries(required.flatMap((name) => (ids[name] === undefined ? [] : [[name, ids[name]]])));
}

/** An action of any shape, as the registry holds it. Its handler is only called with input that was checked. */
// eslint-disable-next-line typescript/no-explicit-any -- a handler's input is contravariant: no narrower type holds them all
export type AnyAction = Action<ActionContext, any, any, string, any>;

// eslint-disable-next-line typescript/no-explicit-any -- as above
export type AnyConsoleOperation = ConsoleOperation<ActionContext, any, any, string, any>;

export type AnyAccountOperation =
  // eslint-disable-next-line typescript/no-explicit-any -- as above
  | AccountOperation<SignedInContext, 'signed_in', any, any, string, any>
  // eslint-disable-next-line typescript/no-explicit-any -- as above
  | AccountOperation<AccountContext, 'anyone', any, any, string, any>;

/** An operation within an organization. */
export type AnyOperation = AnyAction | AnyConsoleOperation;

/** Length at which a list ends, since contract bodies have no paging; `total` says how many entries there are. */
export const LIST_LIMIT = 1_000;

/**
 * Returns the fields that an editor has changed from what they read. Fields they left alone keep their current value;
 * one that somebody else has set to another value meanwhile is a conflict. Without `basedOn`, returns all of `wanted`.
 */
export function changesSince<Values extends object>(
  basedOn: Readonly<Values> | undefined,
  current: Readonly<Values>,
  wanted: Readonly<Partial<Values>>,
  what: string,
): Partial<Values> {
  if (basedOn === undefined) return wanted;
  const changes: Partial<Values> = {};
  for (const field of Object.keys(wanted) as (keyof Values)[]) {
    const isChangedTo = (value: unknown): boolean => !isDeepStrictEqual(value, basedOn[field]);
    if (!isChangedTo(wanted[field])) continue;
    if (isChangedTo(current[field]) && !isDeepStrictEqual(current[field], wanted[field])) {
      throw new AppError('conflict', `somebody has changed ${what} since you opened it`);
    }
    changes[field] = wanted[field];
  }
  return changes;
}

/**
 * Writes the audit row of a change that no operation makes: one of the command line that has no organization yet, of
 * the first run, or of a job. For operations the pipeline does it.
 */
export async function recordChange(
  { stores, now }: Pick<UnitOfWork, 'stores' | 'now'>,
  orgId: Id<'org'>,
  by: AuditedBy,
  change: Change & { readonly action: string; readonly result?: 'done' | 'refused' },
): Promise<void> {
  await stores.audit.append({ orgId, ...by, result: 'done', ...change }, now);
}
