/** Our own few icons, drawn on a 16 px grid in the text's colour. Decorative: the control has the name. */
import type { ReactNode } from "react";

function Icon({ children, filled = false }: { children: ReactNode; filled?: boolean }) {
	return (
		<svg
			width="16"
			height="16"
			viewBox="0 0 16 16"
			fill={filled ? "currentColor" : "none"}
			stroke={filled ? "none" : "currentColor"}
			strokeWidth="1.5"
			strokeLinecap="round"
			strokeLinejoin="round"
			aria-hidden="true"
			focusable="false"
		>
			{children}
		</svg>
	);
}
const stroke = (d: string) => () => (
	<Icon>
		<path d={d} />
	</Icon>
);
const solid = (d: string) => () => (
	<Icon filled>
		<path d={d} />
	</Icon>
);

export const ArrowLeftIcon = stroke("M10 3 5 8l5 5");
export const ChatIcon = stroke("M2.5 3.5h11v7h-6L4.5 13v-2.500h-2z");
export const CloseIcon = stroke("M4 4l8 8M12 4l-8 8");
export const CopyIcon = stroke("M5.500 5.500h8v8h-8zM3 10.500H2.500v-8h8V3");
export const DownloadIcon = stroke("M8 2.500v8M4.500 7.500 8 11l3.500-3.500M2.500 13.500h11");
export const DotsIcon = solid(
	"M3 6.800a1.200 1.200 0 1 0 0 2.400 1.200 1.200 0 0 0 0-2.400zm5 0a1.200 1.200 0 1 0 0 2.400 1.200 1.200 0 0 0 0-2.400zm5 0a1.200 1.200 0 1 0 0 2.400 1.200 1.200 0 0 0 0-2.400z",
);
export const EndStageIcon = stroke("M2.500 4.500h11v7h-11zM6.500 6.500h3v3h-3z");
export const FitIcon = stroke("M2.500 6V2.500H6M10 2.500h3.500V6M13.500 10v3.500H10M6 13.500H2.500V10");
export const HelpIcon = stroke("M5.800 6a2.300 2.300 0 1 1 3.200 2.200c-.7.300-1 .8-1 1.500M8 12.200v.1");
export const MaximiseIcon = stroke("M9.500 2.500h4v4M13.500 2.500 9 7M6.500 13.500h-4v-4M2.500 13.500 7 9");
export const MoonIcon = stroke("M13 9.500A5.500 5.500 0 0 1 6.500 3 5.500 5.500 0 1 0 13 9.500z");
export const OutlineIcon = stroke("M2.500 4h11M5.500 8h8M5.500 12h8");
export const PlusIcon = stroke("M8 3v10M3 8h10");
export const RawStageIcon = stroke("M5.500 4.500 2 8l3.500 3.500M10.500 4.500 14 8l-3.500 3.500");
export const RedoIcon = stroke("M10 3.500 13 6.500l-3 3M13 6.500H6a3 3 0 0 0 0 6.500h2");
export const SearchIcon = stroke("M7 2.500a4.500 4.500 0 1 0 0 9 4.500 4.500 0 0 0 0-9zM10.500 10.500l3 3");
export const SettingsIcon = stroke("M2.500 5h6m3 0h2M2.500 11h2m3 0h6M10 3.300v3.400M6 9.300v3.400");
export const StageIcon = stroke("M2.500 4.500h11v7h-11z");
export const SunIcon = stroke(
	"M8 5.200a2.800 2.800 0 1 0 0 5.600 2.800 2.800 0 0 0 0-5.600zM8 1.500v1M8 13.500v1M1.500 8h1M13.500 8h1M3.400 3.400l.7.700M11.900 11.900l.7.700M12.600 3.400l-.7.700M4.100 11.900l-.7.700",
);
export const TidyIcon = stroke(
	"M2.500 3.500h4v3h-4zM9.500 2h4v3h-4zM9.500 10h4v3h-4zM6.500 5h1.200v6.500h1.800M7.700 3.500h1.800",
);
export const TrashIcon = stroke("M3 4.500h10M6.500 4.500v-2h3v2M4.500 4.500l.5 9h6l.5-9");
export const UndoIcon = stroke("M6 3.500 3 6.500l3 3M3 6.500h7a3 3 0 0 1 0 6.500H8");
export const UploadIcon = stroke("M8 11V3M4.500 6 8 2.500 11.500 6M2.500 13.500h11");
export const WarningIcon = stroke("M8 2.500 14 13.500H2zM8 6.500v3.500M8 12v.1");
