import { createProvisioningToken } from '#modules/provisioning/operations/create_provisioning_token.ts';
import { getProvisioning } from '#modules/provisioning/operations/get_provisioning.ts';
import { mapProvisionedGroup } from '#modules/provisioning/operations/map_provisioned_group.ts';
import { revokeProvisioningToken } from '#modules/provisioning/operations/revoke_provisioning_token.ts';
import { setProvisionedRole } from '#modules/provisioning/operations/set_provisioned_role.ts';

/** Operations of the console on the identity provider of an organization. */
export const PROVISIONING_OPERATIONS = [
  getProvisioning,
  createProvisioningToken,
  revokeProvisioningToken,
  setProvisionedRole,
  mapProvisionedGroup,
] as const;
