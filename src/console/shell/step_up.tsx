import { Modal, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';

import { setStepUp } from '#console/api/http.ts';
import { secondFactorsQuery, stepUp } from '#console/api/second_factor.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { SecondFactorForm } from '#console/components/second_factor_form.tsx';

/** Asks for the second factor when the server requires it again, then lets the request continue. */
export function StepUp() {
  const [isAsking, setIsAsking] = useState(false);
  const settle = useRef<((isConfirmed: boolean) => void) | null>(null);
  useEffect(() => {
    setStepUp(
      () =>
        new Promise((resolve) => {
          settle.current?.(false);
          settle.current = resolve;
          setIsAsking(true);
        }),
    );
    return () => setStepUp(null);
  }, []);
  const close = (isConfirmed: boolean): void => {
    setIsAsking(false);
    settle.current?.(isConfirmed);
    settle.current = null;
  };
  if (!isAsking) return null;
  return (
    <Modal opened onClose={() => close(false)} title="Confirm with your second factor" zIndex={400}>
      <Text size="sm" mb="md">
        Changing keys or roles and deleting things asks for it again after ten minutes.
      </Text>
      <Methods onConfirmed={() => close(true)} />
    </Modal>
  );
}

function Methods({ onConfirmed }: { readonly onConfirmed: () => void }) {
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
      onSubmit={async (proof) => {
        await stepUp(proof);
        onConfirmed();
      }}
    />
  );
}
