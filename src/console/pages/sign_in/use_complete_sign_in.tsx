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
} from '#console/api/session.ts';
import { SecondFactorForm } from '#console/components/second_factor_form.tsx';

/** Goes in with a new session, to where the person wanted to be. Nothing of whoever was here before is kept. */
function useEnter(): (session: Session, next?: string) => Promise<void> {
  const queryClient = useQueryClient();
  const router = useRouter();
  return async (session, next = '/') => {
    queryClient.clear();
    queryClient.setQueryData(sessionQuery.queryKey, session);
    // Left to the router as a whole, since it may carry a query of its own.
    router.history.push(`${router.basepath.replace(/\/+$/, '')}${next}`);
    await router.load();
  };
}

/** Goes in once everything is shown; `step` takes the place of the form while the second factor is missing. */
export function useCompleteSignIn(next?: string): {
  readonly proceed: (answer: SignedInOrPending) => Promise<void>;
  readonly step: ReactNode;
} {
  const enter = useEnter();
  const [pending, setPending] = useState<PendingSignIn | null>(null);
  const proceed = async (answer: SignedInOrPending): Promise<void> => {
    if (isPending(answer)) setPending(answer.secondFactor);
    else await enter(answer, next);
  };
  const step = pending !== null && (
    <SecondFactorForm
      methods={pending.methods}
      token={pending.token}
      onShow={async (shown) => enter(await completeSignIn(pending.token, shown), next)}
    />
  );
  return { proceed, step };
}
