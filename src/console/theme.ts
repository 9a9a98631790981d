import {
  type AnchorProps,
  type ButtonProps,
  colorsTuple,
  createTheme,
  type CSSVariablesResolver,
  type MenuProps,
  type ModalProps,
  type SwitchProps,
  type TextInputProps,
  type TooltipProps,
} from '@mantine/core';

/** Returns default props without the component itself, which is loaded with the pages that show it. */
function defaults<Props>(defaultProps: Partial<Props>): { defaultProps: Partial<Props> } {
  return { defaultProps };
}

/** Returns the ten shades of a colour, lightest first; those of `dark` are listed from the text to the background. */
const shades = (colors: string) => colorsTuple(colors.split(' '));

/** Theme. Colours carry meaning: red needs somebody, amber is being handled, green is over, blue can be pressed. */
export const theme = createTheme({
  fontFamily: "'Inter Variable', system-ui, sans-serif",
  fontFamilyMonospace: "ui-monospace, SFMono-Regular, Menlo, 'Cascadia Mono', 'DejaVu Sans Mono', monospace",
  headings: {
    fontWeight: '620',
    sizes: {
      h1: { fontSize: '1.375rem', lineHeight: '1.3' },
      h2: { fontSize: '1rem', lineHeight: '1.4' },
      h3: { fontSize: '0.875rem', lineHeight: '1.4' },
    },
  },
  fontSizes: { xs: '0.75rem', sm: '0.875rem', md: '0.9375rem', lg: '1.0625rem', xl: '1.25rem' },
  defaultRadius: 'md',
  radius: { xs: '0.25rem', sm: '0.375rem', md: '0.5rem', lg: '0.75rem', xl: '1rem' },
  primaryColor: 'blue',
  primaryShade: { light: 6, dark: 6 },
  respectReducedMotion: true,
  cursorType: 'pointer',
  colors: {
    blue: shades('#eef4ff #dbe7fe #bcd2fd #90b4fb #7aa5fa #4f83f3 #2a66e4 #2157ca #1d49a6 #1c3f85'),
    gray: shades('#fafafb #f3f4f5 #e8e9ec #dcdee2 #c9ccd1 #a9adb4 #666c75 #4a4f57 #31353b #1c2024'),
    dark: shades('#edeef0 #c3c7cd #9aa0a8 #8a9099 #343940 #262a30 #1a1d21 #111316 #0c0e10 #08090a'),
    red: shades('#fff1f1 #ffe1e1 #ffc8c9 #ffa3a5 #fb8084 #f0565c #d93a41 #b92b32 #99272d #80262b'),
    orange: shades('#fff7ec #feebcd #fcd499 #fab85b #f7a032 #e98415 #b75c0a #9a480c #7d3a10 #673110'),
    green: shades('#edfaf3 #d3f3e0 #aae6c6 #73d3a5 #4cc08a #27a06b #157f52 #116543 #105037 #0e422f'),
  },
  components: {
    Anchor: defaults<AnchorProps>({ underline: 'hover' }),
    Button: defaults<ButtonProps>({ radius: 'md' }),
    // Rendered within the landmark of its button, and never clipped by the page.
    Menu: defaults<MenuProps>({ withinPortal: false, floatingStrategy: 'fixed', withInitialFocusPlaceholder: false }),
    Modal: defaults<ModalProps>({
      centered: true,
      yOffset: 'max(5dvh, var(--t-below-dialogs, 0rem))',
      radius: 'lg',
      overlayProps: { backgroundOpacity: 0.45, blur: 2 },
      closeButtonProps: { 'aria-label': 'Close' },
      // A banner landmark belongs to the page, not to a dialog.
      attributes: { header: { role: 'presentation' } },
    }),
    Switch: defaults<SwitchProps>({ withThumbIndicator: false }),
    TextInput: defaults<TextInputProps>({ autoComplete: 'off', dir: 'auto' }),
    Tooltip: defaults<TooltipProps>({ openDelay: 300, withArrow: false }),
  },
});

/** Colours of the product, named after their use. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-body': '#ffffff',
    '--mantine-color-text': '#1c2024',
    '--mantine-color-dimmed': '#5c626b',
    '--mantine-color-placeholder': '#6b717a',
    '--mantine-color-error': '#b92b32',
    '--mantine-color-anchor': '#2157ca',
    '--mantine-color-default-border': '#dcdee2',
    '--t-surface': '#ffffff',
    '--t-sunken': '#f7f8f9',
    '--t-hover': '#f3f4f6',
    '--t-line': '#e6e8eb',
    '--t-red': '#c62a33',
    '--t-red-soft': '#fff0f0',
    '--t-red-line': '#ffd3d4',
    '--t-amber': '#9a4d06',
    '--t-amber-soft': '#fff6e6',
    '--t-amber-line': '#fbdfb1',
    '--t-green': '#12704a',
    '--t-green-soft': '#ebf9f1',
    '--t-green-line': '#bfe8d2',
    '--t-blue': '#2157ca',
    '--t-blue-soft': '#eef4ff',
    '--t-blue-line': '#cbdcfd',
    '--t-gray-soft': '#f1f2f4',
  },
  dark: {
    '--mantine-color-body': '#111316',
    '--mantine-color-text': '#e8eaed',
    '--mantine-color-dimmed': '#9fa5ae',
    '--mantine-color-error': '#ff8f93',
    '--mantine-color-anchor': '#8fb3ff',
    '--mantine-color-default': '#1a1d21',
    '--mantine-color-default-border': '#343940',
    '--t-surface': '#16191c',
    '--t-sunken': '#0c0e10',
    '--t-hover': '#1d2125',
    '--t-line': '#262a30',
    '--t-red': '#ff9598',
    '--t-red-soft': '#33171a',
    '--t-red-line': '#5b2529',
    '--t-amber': '#f5b453',
    '--t-amber-soft': '#2e2110',
    '--t-amber-line': '#54391a',
    '--t-green': '#5fd19a',
    '--t-green-soft': '#10281d',
    '--t-green-line': '#1d4a35',
    '--t-blue': '#8fb3ff',
    '--t-blue-soft': '#17233d',
    '--t-blue-line': '#2a3f6b',
    '--t-gray-soft': '#22262b',
  },
});
