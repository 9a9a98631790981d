import { compareWithTool } from '#modules/shadow/operations/compare_with_tool.ts';
import { getShadowMode, setOrganizationShadow, setServiceShadow } from '#modules/shadow/operations/shadow_mode.ts';

/** Operations of the console on shadow mode. */
export const SHADOW_OPERATIONS = [getShadowMode, setServiceShadow, setOrganizationShadow, compareWithTool] as const;
