import { Modal, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';

import { setStepUp } from '#console/api/http.ts';
import { secondFactorsQuery, stepUp } from '#console/api/second_factor.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { SecondFactorForm } from '#console/components/second_factor_form.tsx';

/** Asks for the second factor whenever the server wants to see it again, and lets the request go on. */
export function StepUp() {
  const [isAsking, setIsAsking] = useState(false);
  const answer = useRef<((isShown: boolean) => void) | null>(null);
  useEffect(() => {
    setStepUp(
      () =>
        new Promise((resolve) => {
          answer.current?.(false);
          answer.current = resolve;
          setIsAsking(true);
        }),
    );
    return () => setStepUp(null);
  }, []);
  const close = (isShown: boolean): void => {
    setIsAsking(false);
    answer.current?.(isShown);
    answer.current = null;
  };
  if (!isAsking) return null;
  return (
    <Modal opened onClose={() => close(false)} title="Show your second factor" zIndex={400}>
      <Text size="sm" mb="md">
        Keys, roles and deletion ask for it again after ten minutes.
      </Text>
      <Methods onShown={() => close(true)} />
    </Modal>
  );
}

function Methods({ onShown }: { readonly onShown: () => void }) {
  const { data, error } = useQuery(secondFactorsQuery);
  if (error !== null && data === undefined) return <ErrorAlert error={error} />;
  if (data === undefined) return null;
  const methods = [
    ...(data.passkeys.length > 0 ? (['passkey'] as const) : []),
    ...(data.hasApp ? (['code'] as const) : []),
    ...(data.recoveryCodesLeft > 0 ? (['recovery_code'] as const) : []),
  ];
  return (
    <SecondFactorForm
      methods={methods}
      token={null}
      onShow={async (shown) => {
        await stepUp(shown);
        onShown();
      }}
    />
  );
}
