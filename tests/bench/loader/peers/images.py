"""Peers that decode JPEGs, cut and resize at random and flip: scenario {"peer", "out", "workers", "folder", …}.

With "whole" the cut is the whole image and nothing is flipped, so that pixels can be compared.
"""

import functools
import glob
import math
import random
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import peer

SIZE = 224
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def shape_of(scenario):
    """(scale, ratio, probability of a flip)"""
    return ((1.0, 1.0), (4 / 3, 4 / 3), 0.0) if scenario.get("whole") else ((0.08, 1.0), (3 / 4, 4 / 3), 0.5)


# Each of the functions below finds files and builds transforms, and gives a function that makes a loader of them: that
# in turn gives a function which begins an epoch.


def data_loader(dataset, scenario):
    import torch
    workers = scenario["workers"]
    options = {"persistent_workers": True, "prefetch_factor": 2} if workers else {}
    return torch.utils.data.DataLoader(dataset, scenario["batch"], shuffle=not scenario.get("whole"),
                                       num_workers=workers, **options)


def torchvision_loader(scenario):
    import torch
    from PIL import Image
    from torchvision.io import ImageReadMode, decode_jpeg, read_file
    from torchvision.transforms import v2
    torch.set_num_threads(1)
    scale, ratio, flip = shape_of(scenario)
    crop = [v2.RandomResizedCrop(SIZE, scale=scale, ratio=ratio, antialias=True), v2.RandomHorizontalFlip(flip)]
    to_float = [v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)]
    if scenario["peer"] == "pil":
        # What the reference recipe does: PIL until the tensor.
        import torchvision.transforms as v1
        crop = [v1.RandomResizedCrop(SIZE, scale=scale, ratio=ratio), v1.RandomHorizontalFlip(flip)]
        to_float = [v1.ToTensor(), v1.Normalize(MEAN, STD)]
        to_bytes = [v1.PILToTensor()]
        transform = v1.Compose(crop + (to_float if scenario["out"] == "f32" else to_bytes))
        read = lambda path: Image.open(path).convert("RGB")
    else:
        transform = v2.Compose(crop + (to_float if scenario["out"] == "f32" else []))
        read = lambda path: decode_jpeg(read_file(path), mode=ImageReadMode.RGB)
    paths = sorted(glob.glob(scenario["folder"] + "/*/*.jpg"))

    class Files(torch.utils.data.Dataset):
        def __len__(self):
            return len(paths)

        def __getitem__(self, index):
            return transform(read(paths[index])), index

    return lambda: functools.partial(iter, data_loader(Files(), scenario))


def webdataset_loader(scenario):
    import torch
    import webdataset
    from torchvision.io import ImageReadMode, decode_jpeg
    from torchvision.transforms import v2
    torch.set_num_threads(1)
    scale, ratio, flip = shape_of(scenario)
    transform = v2.Compose([v2.RandomResizedCrop(SIZE, scale=scale, ratio=ratio, antialias=True),
                            v2.RandomHorizontalFlip(flip)])

    def sample(parts):
        encoded = torch.frombuffer(bytearray(parts["jpg"]), dtype=torch.uint8)
        return transform(decode_jpeg(encoded, mode=ImageReadMode.RGB)), int(parts["cls"])

    shards = sorted(glob.glob(scenario["folder"] + "*.tar"))
    dataset = webdataset.WebDataset(shards, shardshuffle=False, empty_check=False)
    if not scenario.get("whole"):
        dataset = dataset.shuffle(200)
    dataset = dataset.map(sample).batched(scenario["batch"])
    options = {"persistent_workers": True} if scenario["workers"] else {}
    return lambda: functools.partial(
        iter, webdataset.WebLoader(dataset, batch_size=None, num_workers=scenario["workers"], **options))


def dali_loader(scenario):
    from nvidia.dali import fn, pipeline_def, types
    paths = sorted(glob.glob(scenario["folder"] + "/*/*.jpg"))
    scale, ratio, flip = shape_of(scenario)
    batch = scenario["batch"]
    shuffled = not scenario.get("whole")

    @pipeline_def
    def pipeline():
        encoded, ids = fn.readers.file(files=paths, labels=list(range(len(paths))), random_shuffle=shuffled,
                                       initial_fill=len(paths), name="files")
        images = fn.decoders.image_random_crop(encoded, device="cpu", output_type=types.RGB, random_area=list(scale),
                                               random_aspect_ratio=list(ratio), num_attempts=10)
        images = fn.resize(images, size=[SIZE, SIZE], interp_type=types.INTERP_LINEAR, antialias=True)
        mirror = fn.random.coin_flip(probability=flip)
        if scenario["out"] == "f32":
            images = fn.crop_mirror_normalize(images, dtype=types.FLOAT, output_layout="CHW", mirror=mirror,
                                              mean=[255 * m for m in MEAN], std=[255 * s for s in STD])
        else:
            images = fn.flip(images, horizontal=mirror)
        return images, ids

    def make_batches():
        made = pipeline(batch_size=batch, num_threads=scenario["workers"], device_id=None, seed=1)
        made.build()

        # What the pipeline made ahead of an epoch's end belongs to the next one: the same in every round.
        def batches():
            for _ in range(len(paths) // batch):
                images, ids = made.run()
                yield images.as_array(), ids.as_array().ravel()
        return batches
    return make_batches


def threads_loader(scenario):
    """cv2 on Python's threads: what one gets without the lock of the interpreter. Its resize does not antialias."""
    import cv2
    import torch
    cv2.setNumThreads(0)
    paths = sorted(glob.glob(scenario["folder"] + "/*/*.jpg"))
    scale, ratio, flip = shape_of(scenario)
    log_ratio = (math.log(ratio[0]), math.log(ratio[1]))

    def one(path):
        image = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_COLOR_RGB)
        height, width = image.shape[:2]
        top, left, rows, columns = 0, 0, height, width
        for _ in range(10):
            area = width * height * random.uniform(*scale)
            aspect = math.exp(random.uniform(*log_ratio))
            w, h = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
            if w <= width and h <= height:
                top, left, rows, columns = random.randint(0, height - h), random.randint(0, width - w), h, w
                break
        cut = cv2.resize(image[top:top + rows, left:left + columns], (SIZE, SIZE), interpolation=cv2.INTER_LINEAR)
        return cv2.flip(cut, 1) if random.random() < flip else cut

    batch = scenario["batch"]

    def whole_batch(numbers):
        return torch.from_numpy(np.stack([one(paths[number]) for number in numbers])), numbers

    def make_batches():
        pool = ThreadPoolExecutor(scenario["workers"])

        def batches():
            order = list(range(len(paths)))
            if not scenario.get("whole"):
                random.shuffle(order)
            return pool.map(whole_batch, [order[i:i + batch] for i in range(0, len(order), batch)])
        return batches
    return make_batches


def turns(batches, epochs, pause):
    """How long the first batch of each epoch but the first is waited for, ms, by who takes `pause` seconds a batch."""
    waited = []
    for number in range(epochs):
        begin, last = time.perf_counter(), None
        for _ in batches():
            if last is None and number > 0:
                waited.append(1e3 * (time.perf_counter() - begin))
            last = True
            time.sleep(pause)
    return {"turns": waited}


def first_of_fresh(make_batches):
    """Seconds to the first batch of a loader that is made for it; files are found and transforms built already."""
    begin = time.perf_counter()
    fresh = make_batches()
    some = fresh()
    next(some)
    first = time.perf_counter() - begin
    del some, fresh  # its workers end behind the clock
    return {"first": first}


def make(scenario):
    loaders = {"pil": torchvision_loader, "v2": torchvision_loader, "webdataset": webdataset_loader,
               "dali": dali_loader, "cv2": threads_loader}
    make_batches = loaders[scenario["peer"]](scenario)
    batches = make_batches()

    def act(command):
        if command["do"] == "epoch":
            return peer.epoch(batches())
        if command["do"] == "fresh":
            return first_of_fresh(make_batches)
        if command["do"] == "turns":
            return turns(batches, command["epochs"], command["pause"] / 1e3)
        pixels = np.concatenate([np.asarray(images) for images, _ in batches()])
        if pixels.shape[1] == 3:
            pixels = pixels.transpose(0, 2, 3, 1)
        np.ascontiguousarray(pixels).tofile(command["file"])
        return {"samples": len(pixels), "dtype": str(pixels.dtype), "shape": list(pixels.shape)}
    return act


if __name__ == "__main__":
    peer.serve(make)
