import { type TidyRequest, tidyLayout } from "./tidyLayout";

self.onmessage = ({ data }: MessageEvent<TidyRequest>) => {
	self.postMessage(tidyLayout(data));
};
