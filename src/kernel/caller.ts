import type { Id } from '#kernel/ids.ts';
import type { OperationPermission } from '#kernel/permissions.ts';

/** A connected app, under the name that it had when it acted. */
export interface ThroughConnection {
  readonly connectionId: Id<'connection'>;
  readonly clientName: string;
}

/** A proposal of an agent, which a person approved. */
export interface ThroughProposal {
  readonly proposalId: Id<'proposal'>;
  readonly agentId: string;
  readonly agentName: string;
}

/** A linked chat account, under the name that it had when it acted. */
export interface ThroughChat {
  readonly placeId: Id<'place'>;
  readonly account: string;
  readonly name: string;
}

/** A person, an organization's key, or the product itself, as the one who acts. */
export type Actor =
  | {
      readonly kind: 'user';
      readonly userId: Id<'user'>;
      readonly apiKeyId: Id<'apikey'> | null;
      /** Name of the key when it acted. */
      readonly apiKeyName?: string;
      /** The app that the person acts through; absent when there is none in between. */
      readonly connection?: ThroughConnection;
      /** Proposal that the person approved; absent when the idea was their own. */
      readonly proposal?: ThroughProposal;
      /** The chat account that the person pressed a button or wrote with; absent when it was not in a chat. */
      readonly chatAccount?: ThroughChat;
      /** Set when the person pressed a button on the page that the link of an SMS opens, rather than replied. */
      readonly byLink?: true;
    }
  | { readonly kind: 'api_key'; readonly apiKeyId: Id<'apikey'>; readonly apiKeyName?: string }
  | { readonly kind: 'system' };

/** A caller of an action, and the way they came. */
export interface CallerVia<Way extends string> {
  readonly orgId: Id<'org'>;
  readonly actor: Actor;
  readonly via: Way;
  readonly permissions: ReadonlySet<OperationPermission>;
  /**
   * Whether the second factor has to be shown before anything that asks for stepping up. True by a message to a person
   * who has one, since there is no session to show it in; false for keys and connections, which were made with it.
   */
  readonly mustStepUp: boolean;
  /** Permissions that the person's role allows and the connection was not granted: approving it anew would help. */
  readonly withheld?: ReadonlySet<OperationPermission>;
  /** Agent at the endpoint of responders, which an owner has enabled. */
  readonly responder?: { readonly agentId: string; readonly agentName: string };
  /** Set when the organization has stopped its agents: every caller over MCP is one. */
  readonly areAgentsStopped?: true;
  /** Set while a configuration file is applied: its changes are made by operations of the console, too. */
  readonly appliesFile?: true;
  /** Set in a session that the provider of the organization began: it must change nothing that counts in others. */
  readonly isByProvider?: true;
  /** Set for a connection that may change nothing: what it is shown cannot be used to send data, either. */
  readonly isReadOnly?: true;
}

/** Facts about the request itself, for logs and the audit log. */
export interface RequestOrigin {
  readonly requestId: string;
  /** The sender's address, or null when the product acts on its own. */
  readonly address: string | null;
}
