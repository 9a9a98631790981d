import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';

import { completeSignIn } from '#console/api/second_factor.ts';
import {
  isPending,
  type PendingSignIn,
  type Session,
  sessionQuery,
  type SignedInOrPending,
  takePendingSignIn,
  tellOtherTabs,
} from '#console/api/session.ts';
import { SecondFactorForm } from '#console/components/forms/second_factor_form.tsx';

/**
 * Returns a function that opens the console with a new session, at the page the person wanted. Cached data of the
 * previous session is dropped.
 */
function useOpenSession(): (session: Session, next?: string) => Promise<void> {
  const queryClient = useQueryClient();
  const router = useRouter();
  return async (session, next = '/') => {
    queryClient.clear();
    queryClient.setQueryData(sessionQuery.queryKey, session);
    tellOtherTabs({ userId: session.user.userId });
    // The whole address goes to the router, because it may contain a query.
    router.history.push(`${router.basepath.replace(/\/+$/, '')}${next}`);
    await router.load();
  };
}

/** Opens the console once the sign-in is complete. `step` replaces the form while the second factor is missing. */
export function useCompleteSignIn(next?: string): {
  readonly proceed: (answer: SignedInOrPending) => Promise<void>;
  readonly step: ReactNode;
} {
  const openSession = useOpenSession();
  const [pending, setPending] = useState<PendingSignIn | null>(takePendingSignIn);
  const proceed = async (answer: SignedInOrPending): Promise<void> => {
    if (isPending(answer)) setPending(answer.secondFactor);
    else await openSession(answer, next);
  };
  const step = pending !== null && (
    <SecondFactorForm
      methods={pending.methods}
      token={pending.token}
      onSubmit={async (proof) => openSession(await completeSignIn(pending.token, proof), next)}
    />
  );
  return { proceed, step };
}
