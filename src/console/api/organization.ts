import type { Capability } from '#console/api/actions.ts';
import { ask } from '#console/api/http.ts';
import { orgQuery } from '#console/api/queries.ts';
import type { Role } from '#console/api/session.ts';

export type Channel = 'sms' | 'call' | 'push' | 'email';

export interface Member {
  readonly userId: string;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly joinedAt: string;
  readonly teams: readonly { readonly teamId: string; readonly name: string }[];
  readonly warnings: readonly string[];
}

export interface PendingInvitation {
  readonly invitationId: string;
  readonly email: string;
  readonly role: Role;
  readonly invitedBy: string | null;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly status: 'pending' | 'accepted' | 'expired';
}

export interface ApiKey {
  readonly apiKeyId: string;
  readonly name: string;
  readonly kind: 'user' | 'organization';
  readonly user: { readonly userId: string; readonly name: string } | null;
  /** How the key begins. */
  readonly hint: string;
  readonly permissions: readonly string[] | null;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  readonly expiresAt: string | null;
}

export interface Connection {
  readonly connectionId: string;
  readonly clientName: string;
  readonly clientUri: string | null;
  readonly user: { readonly userId: string; readonly name: string };
  readonly access: 'read_only' | 'changes';
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
}

export interface AuditEntry {
  readonly auditId: string;
  readonly at: string;
  readonly actor: { readonly kind: string; readonly id: string | null; readonly name: string | null };
  readonly via: string;
  readonly connection: { readonly connectionId: string; readonly clientName: string } | null;
  readonly action: string;
  readonly target: string | null;
  readonly before: unknown;
  readonly after: unknown;
  readonly result: string;
  readonly address: string | null;
  readonly requestId: string | null;
}

export interface BillingMonth {
  /** Year and month, as 2026-11. */
  readonly month: string;
  readonly total: number;
  readonly lines: readonly {
    readonly serviceId: string;
    readonly serviceName: string;
    readonly capability: Capability;
    readonly periodStart: string;
    readonly periodEnd: string;
    readonly amount: number;
  }[];
}

export interface ChannelHealth {
  readonly channel: Channel;
  readonly configured: boolean;
  readonly via: 'twilio' | 'simulator' | 'smtp' | 'web-push' | null;
  readonly lastSucceededAt: string | null;
  readonly lastFailedAt: string | null;
  readonly lastFailure: string | null;
}

export interface Contact {
  readonly phone: string | null;
  readonly smsEnabled: boolean;
  readonly callEnabled: boolean;
  readonly pushEnabled: boolean;
  readonly emailEnabled: boolean;
}

export interface PushDevice {
  readonly subscriptionId: string;
  readonly label: string;
  readonly createdAt: string;
}

export interface Me {
  readonly teams: readonly { readonly teamId: string; readonly name: string; readonly contact: Contact }[];
  readonly pushSubscriptions: readonly PushDevice[];
  readonly vapidPublicKey: string;
  readonly channels: readonly { readonly channel: Channel; readonly configured: boolean }[];
}

export interface TestNotification {
  readonly notificationId: string;
  readonly channel: Channel;
  readonly to: string | null;
  readonly status: 'queued' | 'sent' | 'delivered' | 'failed' | 'skipped' | 'cancelled';
  readonly reason: string | null;
  readonly updatedAt: string;
}

export interface IngestStatus {
  readonly metrics: { readonly lastSeenAt: string | null; readonly pointsLastHour: number };
  readonly exceptions: { readonly lastSeenAt: string | null; readonly eventsLastHour: number };
  readonly refused: readonly Readonly<Record<string, unknown>>[];
}

export const membersQuery = (orgId: string) => orgQuery<{ members: Member[] }>(orgId, 'settings', 'members');
export const invitationsQuery = (orgId: string) =>
  orgQuery<{ invitations: PendingInvitation[] }>(orgId, 'settings', 'invitations');
export const apiKeysQuery = (orgId: string) => orgQuery<{ apiKeys: ApiKey[] }>(orgId, 'settings', 'api-keys');
export const connectionsQuery = (orgId: string) =>
  orgQuery<{ connections: Connection[] }>(orgId, 'settings', 'connections');
export const billingQuery = (orgId: string) =>
  orgQuery<{ currency: string; months: BillingMonth[] }>(orgId, 'settings', 'billing');
export const deliveryQuery = (orgId: string) =>
  orgQuery<{ channels: ChannelHealth[] }>(orgId, 'settings', 'delivery-health');
export const meQuery = (orgId: string) => orgQuery<Me>(orgId, 'me', 'me');
export const ingestStatusQuery = (orgId: string, serviceId: string) =>
  orgQuery<IngestStatus>(orgId, 'services', `services/${serviceId}/ingest-status`);

/** Changes something below `/api/console/organizations/:org`. */
export async function change<Result>(
  orgId: string,
  method: 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
): Promise<Result> {
  return await ask(`organizations/${orgId}/${path}`, { method, body });
}
