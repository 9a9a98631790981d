import { Alert, Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';

import { isApiError } from '#console/api/http.ts';
import type { Me, PushDevice } from '#console/api/organization.ts';
import { Card, Row } from '#console/components/card.tsx';
import { errorMessage } from '#console/components/error_alert.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { Status } from '#console/components/status.tsx';
import { Name, named } from '#console/components/text/name.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { IconDeviceMobile } from '#console/icons.ts';
import { type DeviceState, useThisDevice } from '#console/pages/me/push.ts';

const WHY_NOT: Partial<Record<DeviceState, string>> = {
  impossible: 'This browser cannot show push messages, or the address of Tocsin is not https.',
  needs_installation:
    'On an iPhone or iPad, add Tocsin to the home screen first (Share, then "Add to Home Screen"), and open it from there.',
  denied: 'This browser blocks messages from Tocsin. Allow them in the settings of this site, then come back.',
};

/** Card of the browsers that show this person's pages. */
export function DevicesCard({ me }: { readonly me: Me }) {
  const device = useThisDevice(me.vapidPublicKey, me.pushSubscriptions);
  const adding = useMutation({
    mutationFn: () => device.subscribe(),
    onSuccess: () => showSuccess('This device now shows your pages. Send yourself a test.'),
  });
  const removing = useMutation({
    mutationFn: (subscriptionId: string) => device.remove(subscriptionId),
    onSuccess: () => setRemoved(null),
  });
  const [removed, setRemoved] = useState<PushDevice | null>(null);
  const whyNot = WHY_NOT[device.state];
  return (
    <Card
      title="Devices"
      about="Each shows your pages as push messages, with buttons to acknowledge and resolve."
      action={
        device.state === 'off' && (
          <Button onClick={() => adding.mutate()} loading={adding.isPending}>
            Add this device
          </Button>
        )
      }
      rows={
        me.pushSubscriptions.length === 0
          ? undefined
          : me.pushSubscriptions.map((subscription) => {
              const { subscriptionId, label, createdAt } = subscription;
              return (
                <Row
                  key={subscriptionId}
                  icon={<IconDeviceMobile size={20} stroke={1.75} aria-hidden />}
                  title={
                    <>
                      <Name>{label}</Name>{' '}
                      {subscriptionId === device.subscriptionId && <Status tone="green">this device</Status>}
                    </>
                  }
                  sub={
                    <>
                      Added <Timestamp at={createdAt} format="date" />
                    </>
                  }
                >
                  <Button variant="default" onClick={() => setRemoved(subscription)} aria-label={`Remove ${label}`}>
                    Remove
                  </Button>
                </Row>
              );
            })
      }
    >
      {whyNot !== undefined && (
        <Alert mt="sm" color="orange" variant="light">
          {whyNot}
        </Alert>
      )}
      {removed !== null && (
        <Confirm
          title={named`Remove ${removed.label}?`}
          button="Remove"
          saving={removing}
          onConfirm={() => removing.mutate(removed.subscriptionId)}
          onClose={() => setRemoved(null)}
        >
          It will no longer show your pages. You can add it again only from the device itself.
        </Confirm>
      )}
      {adding.isError && (
        <Alert mt="sm" color="red" variant="light" role="alert" title="This device was not added">
          {isApiError(adding.error) ? errorMessage(adding.error) : adding.error.message}
        </Alert>
      )}
    </Card>
  );
}
