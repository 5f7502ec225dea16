/** Mantine's theme: small type, quiet colours, and the three settings that make it pass contrast checks. */
import { CloseButton, createTheme, Modal, Tooltip } from "@mantine/core";

const CLOSE_LABEL: Record<string, string> = { "aria-label": "Close" };

/** Mantine's greys for the dark scheme, from text to ground, in the tone of tokens.css. */
const DARK = [
	"#e8ebf1",
	"#c8cfdb",
	"#a3adbd",
	"#8b95a6",
	"#414957",
	"#323843",
	"#20242c",
	"#1b1e25",
	"#14161b",
	"#101217",
] as const;

export const theme = createTheme({
	primaryColor: "indigo",
	colors: { dark: DARK },
	primaryShade: { light: 8, dark: 8 },
	autoContrast: true,
	fontFamily: "var(--ps-sans)",
	fontFamilyMonospace: "var(--ps-mono)",
	fontSizes: { xs: "12px", sm: "13px", md: "14px", lg: "16px", xl: "20px" },
	fontWeights: { regular: "400", medium: "500", bold: "600" },
	defaultRadius: "md",
	radius: { sm: "4px", md: "6px", lg: "8px" },
	cursorType: "pointer",
	respectReducedMotion: true,
	components: {
		CloseButton: CloseButton.extend({ defaultProps: CLOSE_LABEL }),
		Modal: Modal.extend({ defaultProps: { closeButtonProps: CLOSE_LABEL, centered: true } }),
		Tooltip: Tooltip.extend({ defaultProps: { openDelay: 400, withArrow: false } }),
	},
});
