import { queryOptions } from '@tanstack/react-query';

import type { AccountResultOf } from '#console/api/actions.ts';
import { dropDataOfPage, takeElement } from '#console/api/initial_data.ts';
import { addressOf, ask, BASE, isApiError } from '#console/api/http.ts';
import { removeAllDrafts } from '#console/components/forms/draft_store.ts';

let channel: BroadcastChannel | null = null;

/** Returns the channel of the page. There is only one, so a page does not receive its own messages. */
const channelOfTabs = (): BroadcastChannel => (channel ??= new BroadcastChannel(`tocsin-session-${BASE.pathname}`));

/** Session: the person signed in, and their organizations. */
export type Session = AccountResultOf<'get_session'>;
export type Organization = Session['organizations'][number];
export type Role = Organization['role'];

/** Query of the session; null if nobody is signed in. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal, client, queryKey }): Promise<Session | null> => {
    // The session when the server sent this page.
    const session = takeElement('session') as Session | null;
    if (session !== null) return session;
    try {
      return await ask<Session>('session', { signal });
    } catch (error) {
      // A person signed in until now is sent to the sign-in page, as after every other 401 (`query_client.ts`).
      if (isApiError(error, 401) && !client.getQueryData(queryKey)) return null;
      throw error;
    }
  },
  staleTime: 60_000,
});

/** Sign-in that still needs the second factor. */
export type PendingSignIn = Pending['secondFactor'];
export type SignedInOrPending = AccountResultOf<'sign_in'>;
type Pending = Exclude<SignedInOrPending, Session>;

export function isPending(answer: SignedInOrPending): answer is Pending {
  return 'secondFactor' in answer;
}

export const signIn = (email: string, password: string) =>
  ask<SignedInOrPending>('session', { method: 'POST', body: { email, password } });

/** Begins to sign in through a provider; the answer is where the browser has to go. */
export const beginProviderSignIn = (body: { email?: string; orgId?: string; next?: string }) =>
  ask<AccountResultOf<'begin_provider_sign_in'>>('sign-in', { method: 'POST', body });

/** Takes the sign-in that a provider has begun and that waits for the second factor out of the address. */
export function takePendingSignIn(): PendingSignIn | null {
  const [, text] = /^#second-factor=([\w-]+)$/.exec(location.hash) ?? [];
  if (text === undefined) return null;
  history.replaceState(history.state, '', location.pathname + location.search);
  try {
    const { token, methods } = JSON.parse(atob(text.replaceAll('-', '+').replaceAll('_', '/'))) as PendingSignIn;
    return typeof token === 'string' && Array.isArray(methods) ? { token, methods } : null;
  } catch {
    return null;
  }
}

/** Signs out and removes all drafts, so that the next person at this browser finds none. */
export async function signOut(): Promise<AccountResultOf<'sign_out'>> {
  const answer = await ask<AccountResultOf<'sign_out'>>('session', { method: 'DELETE' });
  removeAllDrafts();
  dropDataOfPage();
  tellOtherTabs({ userId: null });
  return answer;
}

/** Signs out and leaves the console for the sign-in page, by way of the provider that signed the person in. */
export async function leave(): Promise<void> {
  const signedOut = await signOut().catch(() => null);
  location.assign(signedOut?.redirectTo ?? addressOf('login'));
}

export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: ({ signal }) => ask<AccountResultOf<'list_sessions'>>('sessions', { signal }),
});

export const endSession = (sessionId: string) => ask(`sessions/${sessionId}`, { method: 'DELETE' });
export const endOtherSessions = () => ask('sessions', { method: 'DELETE' });

export const requestPasswordReset = (email: string) => ask('password-resets', { method: 'POST', body: { email } });

export const resetQuery = (token: string) =>
  queryOptions({
    queryKey: ['reset', token],
    queryFn: ({ signal }) =>
      ask<AccountResultOf<'get_password_reset'>>(`password-resets/${encodeURIComponent(token)}`, { signal }),
    retry: false,
  });

export const resetPassword = (token: string, body: { password: string; revokeApiKeys: boolean }) =>
  ask<SignedInOrPending>(`password-resets/${encodeURIComponent(token)}`, { method: 'POST', body });

export type Invitation = AccountResultOf<'get_invitation'>;

export const invitationQuery = (token: string) =>
  queryOptions({
    queryKey: ['invitation', token],
    queryFn: ({ signal }) => ask<Invitation>(`invitations/${encodeURIComponent(token)}`, { signal }),
    retry: false,
  });

export const acceptInvitation = (token: string, body: { name?: string; password?: string }) =>
  ask<SignedInOrPending>(`invitations/${encodeURIComponent(token)}`, { method: 'POST', body });

export const changeName = (name: string, basedOn: string) => ask('me', { method: 'PATCH', body: { name, basedOn } });

export const changePassword = (
  currentPassword: string,
  newPassword: string,
  ends: { disconnectApps: boolean; revokeApiKeys: boolean },
) => ask('me/password', { method: 'POST', body: { currentPassword, newPassword, ...ends } });

interface SessionChange {
  /** User now signed in; null if nobody is. */
  readonly userId: string | null;
}

export function tellOtherTabs(change: SessionChange): void {
  // eslint-disable-next-line unicorn/require-post-message-target-origin -- a channel is for its own origin only
  channelOfTabs().postMessage(change);
}

export function onChangeInOtherTab(listener: (change: SessionChange) => void): void {
  channelOfTabs().addEventListener('message', ({ data }: MessageEvent<SessionChange>) => listener(data));
}
