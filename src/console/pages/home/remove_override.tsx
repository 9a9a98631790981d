import type { HomeSchedule } from '#console/api/home.ts';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { named } from '#console/components/text/name.tsx';
import { useRemoveOverride } from '#console/pages/oncall/override/use_put_on_call.ts';
import { useOrganization } from '#console/shell/organization.tsx';

interface RemoveOverrideProps {
  readonly schedule: HomeSchedule;
  readonly overrideId: string;
  readonly onClose: () => void;
}

export function RemoveOverride({ schedule: { name, onCall }, overrideId, onClose }: RemoveOverrideProps) {
  const { userId } = useOrganization().session.user;
  const removing = useRemoveOverride(name);
  const who = onCall?.userId === userId ? 'You are' : named`${onCall?.name ?? 'Nobody'} is`;
  return (
    <Confirm
      title={named`Remove the override of ${name}?`}
      button="Remove"
      saving={removing}
      onConfirm={() => removing.mutate(overrideId, { onSuccess: onClose })}
      onClose={onClose}
    >
      {who} on call because of this override. Without it, pages go to the person in the rotation.
    </Confirm>
  );
}
