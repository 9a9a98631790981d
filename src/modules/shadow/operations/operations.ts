import { compareWithTool } from '#modules/shadow/operations/compare_with_tool.ts';
import { getShadowMode } from '#modules/shadow/operations/get_shadow_mode.ts';
import { setOrganizationShadow } from '#modules/shadow/operations/set_organization_shadow.ts';
import { setServiceShadow } from '#modules/shadow/operations/set_service_shadow.ts';

/** Operations of the console on shadow mode. */
export const SHADOW_OPERATIONS = [getShadowMode, setServiceShadow, setOrganizationShadow, compareWithTool] as const;
