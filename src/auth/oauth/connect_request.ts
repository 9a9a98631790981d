import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Client, Interaction, InteractionResults, Provider } from 'oidc-provider';

import { connect } from '#auth/oauth/connections.ts';
import { saveClient } from '#auth/oauth/record_adapter.ts';
import { mayChange } from './metadata.ts';
import { hashSecret } from '#auth/secret_text.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import { AppError, notFound } from '#kernel/errors.ts';
import { type Id, newId } from '#kernel/ids.ts';
import type { Clock } from '#kernel/time.ts';
import type { ConnectionAccess } from '#storage/postgres/entities/credentials.ts';
import type { Database } from '#storage/postgres/database.ts';
import { storesOf } from '#modules/stores.ts';

/** Description that an app gives of itself when it asks to be connected. */
export interface ConnectingClient {
  readonly name: string;
  readonly uri: string | null;
  /** Destination of the browser afterwards: a host, or the scheme of an app on the same machine. */
  readonly redirectHost: string;
  /** Whether it registered, or is described by a document at the address that is its id. */
  readonly kind: 'registered' | 'metadata_document';
}

interface Approval {
  readonly userId: Id<'user'>;
  readonly orgId: Id<'org'>;
  readonly access: ConnectionAccess;
  readonly origin: RequestOrigin;
}

/** The request of an app that somebody is being asked about. */
export interface ConnectRequest {
  readonly client: ConnectingClient;
  /** Whether the app asks for more than to look. */
  readonly canChange: boolean;
  /**
   * Makes the connection and returns where the browser has to go. Throws `not_found` when the user is no member of the
   * organization, or when the request has just been answered in another tab.
   */
  approve(approval: Approval): Promise<string>;
  /** Tells the app that it was refused, and returns where the browser has to go. */
  refuse(): Promise<string>;
}

interface Asked {
  readonly uid: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

interface Runtime {
  readonly provider: Provider;
  readonly db: Database;
  readonly clock: Clock;
}

/** The pending request of this browser; throws `not_found` when it has expired, was answered, or belongs to another browser. */
export async function getConnectRequest(runtime: Runtime, asked: Asked): Promise<ConnectRequest> {
  const { provider } = runtime;
  const interaction = await findInteraction(provider, asked);
  const clientId = String(interaction?.params['client_id']);
  const client = interaction === null ? undefined : await provider.Client.find(clientId);
  if (interaction === null || client === undefined) throw isOver();
  const asking = describe(client, String(interaction.params['redirect_uri']));
  return {
    client: asking,
    canChange: mayChange(String(interaction.params['scope'])),
    async approve(approval) {
      const connectionId = await makeConnection(runtime, { ...approval, uid: asked.uid, clientId, client: asking });
      return await answer(interaction, { login: { accountId: approval.userId }, consent: { grantId: connectionId } });
    },
    async refuse() {
      await claim(runtime, asked.uid);
      return await answer(interaction, { error: 'access_denied', error_description: 'the request was refused' });
    },
  };
}

function isOver(): AppError {
  return new AppError('not_found', 'this request has expired; start again in the app');
}

/** The cookie of the request is signed, and was given to the browser in which the request began. */
async function findInteraction(provider: Provider, { uid, request, response }: Asked): Promise<Interaction | null> {
  const { cookies } = provider.createContext(request, response);
  if (cookies.get(provider.cookieName('interaction'), { signed: true }) !== uid) return null;
  const interaction = await provider.Interaction.find(uid);
  return interaction === undefined || interaction.result !== undefined ? null : interaction;
}

/**
 * Notes the answer, and returns where it takes effect. Who was signed in when the request began is forgotten: the
 * console says who is, when the answer is noted and once more when it takes effect.
 */
async function answer(interaction: Interaction, result: InteractionResults): Promise<string> {
  Object.assign(interaction, { result, session: undefined });
  await interaction.persist();
  return interaction.returnTo;
}

/** A request is answered once, however many tabs and clicks there are. */
async function claim({ db, clock }: Pick<Runtime, 'db' | 'clock'>, uid: string, session = db.session()): Promise<void> {
  const isFirst = await storesOf(session).oauthRecords.consume('Interaction', hashSecret(uid), clock.now());
  if (!isFirst) throw isOver();
}

async function makeConnection(
  runtime: Runtime,
  {
    uid,
    clientId,
    client,
    userId,
    orgId,
    access,
    origin,
  }: Approval & { readonly uid: string; readonly clientId: string; readonly client: ConnectingClient },
): Promise<Id<'connection'>> {
  const now = runtime.clock.now();
  const connectionId = newId('connection');
  await runtime.db.transaction(async (session) => {
    if ((await storesOf(session).people.findRole(orgId, userId)) === null) throw notFound('orgId', 'organization');
    await claim(runtime, uid, session);
    const described = { clientId, clientName: client.name, clientUri: client.uri };
    const connection = { connectionId, orgId, userId, ...described, access, createdAt: now, lastUsedAt: null };
    await connect(session, connection, origin);
  });
  await saveClient(runtime.db, clientId, now);
  return connectionId;
}

/** A client without a name is called by where it lives. */
function describe(client: Client, redirectUri: string): ConnectingClient {
  const isDocument = 'clientIdMetadataDocument' in client;
  const redirectHost = hostOf(redirectUri);
  return {
    name: client.clientName ?? (isDocument ? hostOf(client.clientId) : redirectHost),
    uri: client.clientUri ?? null,
    redirectHost,
    kind: isDocument ? 'metadata_document' : 'registered',
  };
}

function hostOf(address: string): string {
  const { host, protocol } = new URL(address);
  return protocol === 'https:' || protocol === 'http:' ? host : `${protocol}//`;
}
