import { Modal, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';

import { secondFactorsQuery, stepUp } from '#console/api/second_factor.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { SecondFactorForm } from '#console/components/forms/second_factor_form.tsx';

export function StepUpDialog({ onClose }: { readonly onClose: (isConfirmed: boolean) => void }) {
  return (
    <Modal opened onClose={() => onClose(false)} title="Confirm with your second factor" zIndex={400}>
      <Text size="sm" mb="md">
        Changing keys or roles and deleting things asks for it again after ten minutes.
      </Text>
      <Methods onConfirmed={() => onClose(true)} />
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
