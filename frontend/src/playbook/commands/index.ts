export * from "./clipboard";
export * from "./stages";
export * from "./transitions";
