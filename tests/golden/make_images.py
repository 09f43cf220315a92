"""Writes what torchvision's transforms v2 and Pillow make of an image, as JSON below this folder or into another one.

It needs torchvision 0.26 and Pillow 12 beside torch: `pip install --no-deps torchvision==0.26.0 "pillow<13"`, then
python tests/golden/make_images.py. From 13 on, Pillow resizes tall images vertically first, which rounds otherwise.
With a folder as its argument it writes there. `params` are those of the component, chosen so that nothing is left to
chance; `most` and `mean` bound how far bytes may differ, at most and on average over all of them, and `share` which
share of them may differ at all. Where a value is drawn from two directions, `data` has both results; with `itself` the
image as it is may come out as well.
"""

import base64
import json
import math
import pathlib
import random
import sys

import PIL.Image
import torch
from torchvision.transforms import InterpolationMode
from torchvision.transforms.v2 import TrivialAugmentWide
from torchvision.transforms.v2 import functional as F

FOLDER = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "images"
HEIGHT, WIDTH = 24, 32
NEAREST, BILINEAR = InterpolationMode.NEAREST, InterpolationMode.BILINEAR
MODES = {"nearest": NEAREST, "bilinear": BILINEAR, "bicubic": InterpolationMode.BICUBIC}
EXACT = {"most": 0, "mean": 0, "share": 0}
BENT = {"most": 8, "mean": 0.6}
AUGMENTED = {"shear_x": BENT, "shear_y": BENT, "translate_x": EXACT, "translate_y": EXACT, "rotate": BENT,
             "brightness": EXACT, "color": {"most": 2, "mean": 0.7}, "contrast": {"most": 1, "mean": 0.7},
             "sharpness": {"most": 1, "mean": 0.01}, "posterize": EXACT, "solarize": EXACT}

torch.set_num_threads(1)


def picture():
    """Waves, an edge, a disc and a little noise: smooth parts and sharp ones, dark and light."""
    draw = random.Random(5)
    rows = []
    for y in range(HEIGHT):
        for x in range(WIDTH):
            wave = 0.5 + 0.5 * math.sin(x / 3.1 + y / 5.3)
            red = 40 + 170 * wave
            green = 220 - 5 * y if x < 20 else 30 + 4 * y
            blue = 200 if (x - 10) ** 2 + (y - 9) ** 2 < 36 else 60 + 3 * x
            rows.append([max(0, min(255, round(value + draw.uniform(-9, 9)))) for value in (red, green, blue)])
    return torch.tensor(rows, dtype=torch.uint8).reshape(HEIGHT, WIDTH, 3).permute(2, 0, 1).contiguous()


IMAGE = picture()
PILLOW = PIL.Image.fromarray(IMAGE.permute(1, 2, 0).numpy())


def packed(image):
    if isinstance(image, PIL.Image.Image):
        image = F.pil_to_tensor(image)
    last = image.permute(1, 2, 0).contiguous()
    return list(last.shape), base64.b64encode(last.numpy().tobytes()).decode()


def case(name, component, params, *images, most=0, mean=0.0, share=1.0):
    shapes, data = zip(*[packed(image) for image in images])
    assert len(set(map(tuple, shapes))) == 1
    if most == 0:
        share = 0.0
    return {"name": name, "component": component, "params": params, "shape": shapes[0], "data": list(data),
            "most": most, "mean": mean, "share": share}


def resizes():
    sizes = [(12, 16), (9, 31), (40, 50), (24, 11), (5, 32), (60, 7), (1, 1)]
    for height, width in sizes:
        for mode in ("bilinear", "bicubic"):
            params = {"height": height, "width": width, "interpolation": mode}
            yield case(f"{mode} {height} x {width}, Pillow", "resize", params,
                       F.resize(PILLOW, [height, width], MODES[mode]))
    for mode in ("bilinear", "bicubic"):
        params = {"height": 11, "width": 15, "interpolation": mode}
        yield case(f"{mode}, tensors", "resize", params, F.resize(IMAGE, [11, 15], MODES[mode], antialias=True), most=1,
                   mean=0.1)
        params = {"height": 17, "width": 45, "interpolation": mode, "antialias": False}
        yield case(f"{mode} without antialias", "resize", params,
                   F.resize(IMAGE, [17, 45], MODES[mode], antialias=False), most=2, mean=0.3)
    for height, width in ((13, 20), (50, 33)):
        yield case(f"nearest {height} x {width}", "resize",
                   {"height": height, "width": width, "interpolation": "nearest"},
                   F.resize(IMAGE, [height, width], InterpolationMode.NEAREST_EXACT))
    yield case("shorter side", "resize", {"size": 10}, F.resize(PILLOW, 10))
    yield case("shorter side, upwards", "resize", {"size": 25}, F.resize(PILLOW, 25))
    yield case("longest side", "resize", {"size": 20, "max_size": 23}, F.resize(PILLOW, 20, max_size=23))
    yield case("whole image cropped and resized", "random_resized_crop",
               {"height": 9, "width": 10, "scale": [1, 1], "ratio": [WIDTH / HEIGHT, WIDTH / HEIGHT]},
               F.resize(PILLOW, [9, 10]))


def windows():
    for height, width in ((10, 12), (11, 13), (30, 20), (24, 41)):
        yield case(f"{height} x {width}", "center_crop", {"height": height, "width": width},
                   F.center_crop(IMAGE, [height, width]))
    for mode in ("constant", "edge", "reflect", "symmetric"):
        yield case(mode, "pad", {"padding": [5, 2, 1, 9], "padding_mode": mode},
                   F.pad(IMAGE, [5, 2, 1, 9], padding_mode=mode))
    yield case("one number", "pad", {"padding": [3], "fill": [7]}, F.pad(IMAGE, [3], fill=7))
    yield case("left and right", "random_horizontal_flip", {"p": 1}, F.horizontal_flip(IMAGE))
    yield case("top and bottom", "random_vertical_flip", {"p": 1}, F.vertical_flip(IMAGE))


def warps():
    """Bilinear without a colour: with one, torchvision's tensors mix edges with it twice."""
    turned = {"nearest": ([90, 20, 160], {"most": 255, "mean": 0.5, "share": 0.01}),
              "bilinear": (None, {"most": 8, "mean": 0.6})}
    for mode, (fill, bounds) in turned.items():
        given = {"interpolation": mode} | ({"fill": fill} if fill else {})
        for angle in (30, -77.5, 90, 180):
            yield case(f"{mode} {angle}", "random_rotation",
                       {"degrees": [angle, angle]} | given,
                       F.rotate(IMAGE, angle, interpolation=MODES[mode], fill=fill), **bounds)
        yield case(f"{mode} scale and shear", "random_affine",
                   {"degrees": [20, 20], "scale": [1.3, 1.3], "shear": [10, 10, -15, -15]} | given,
                   F.affine(IMAGE, 20, [0, 0], 1.3, [10, -15], interpolation=MODES[mode], fill=fill), **bounds)
        yield case(f"{mode} smaller", "random_affine",
                   {"degrees": [-5, -5], "scale": [0.6, 0.6]} | given,
                   F.affine(IMAGE, -5, [0, 0], 0.6, [0, 0], interpolation=MODES[mode], fill=fill), **bounds)


def perspectives():
    start = [[0, 0], [WIDTH - 1, 0], [WIDTH - 1, HEIGHT - 1], [0, HEIGHT - 1]]
    corners = [[3, 1], [WIDTH - 1 - 1, 2], [WIDTH - 1, HEIGHT - 1 - 1], [2, HEIGHT - 1]]
    for mode, bounds in {"nearest": {"most": 255, "mean": 0.5, "share": 0.01},
                         "bilinear": {"most": 8, "mean": 0.6}}.items():
        made = case(mode, "random_perspective", {"p": 1, "distortion_scale": 0.2, "interpolation": mode},
                    F.perspective(IMAGE, start, corners, interpolation=MODES[mode]), **bounds)
        yield made | {"corners": corners}


def colours():
    still = {"brightness": [1, 1], "contrast": [1, 1], "saturation": [1, 1], "hue": [0, 0]}
    kinds = {
        "brightness": (F.adjust_brightness, (0.4, 1.7), {}),
        "contrast": (F.adjust_contrast, (0.3, 1.9), {"most": 1}),
        "saturation": (F.adjust_saturation, (0.0, 0.5, 1.8), {"most": 2}),
        "hue": (F.adjust_hue, (-0.5, -0.2, 0.1, 0.35), {"most": 2, "mean": 0.1}),
    }
    for kind, (change, factors, bounds) in kinds.items():
        for factor in factors:
            mean = bounds.get("mean", 0.7 if bounds else 0)
            yield case(f"{kind} {factor}", "color_jitter", still | {kind: [factor, factor]}, change(IMAGE, factor),
                       most=bounds.get("most", 0), mean=mean)
    yield case("one channel, Pillow", "grayscale", {}, F.rgb_to_grayscale(PILLOW))
    yield case("three channels, tensors", "grayscale", {"channels": 3}, F.rgb_to_grayscale(IMAGE, 3), most=1, mean=1)
    yield case("grey", "random_grayscale", {"p": 1}, F.rgb_to_grayscale(PILLOW, 3))
    for side, sigma in ((3, 0.8), (5, 2.0), (9, 1.3)):
        yield case(f"{side} pixels, {sigma}", "gaussian_blur", {"kernel_size": side, "sigma": [sigma, sigma]},
                   F.gaussian_blur(IMAGE, side, sigma), most=2, mean=0.6)
    yield case("autocontrast", "random_autocontrast", {"p": 1}, F.autocontrast(IMAGE), most=1, mean=0.05)
    yield case("equalize", "random_equalize", {"p": 1}, F.equalize(IMAGE))


def augmentations():
    """One operation at a time, magnitude 9 of 31, as RandAugment has them."""
    bins, magnitude = 31, 9
    level = magnitude / (bins - 1)
    warp = {"interpolation": BILINEAR}

    def affine(sign, shear=(0.0, 0.0), translate=(0, 0), center=None):
        return F.affine(IMAGE, 0.0, [sign * each for each in translate], 1.0, [sign * each for each in shear],
                        center=center, **warp)

    shear = math.degrees(math.atan(0.3 * level))
    both = {
        "shear_x": lambda sign: affine(sign, shear=(shear, 0.0), center=[0, 0]),
        "shear_y": lambda sign: affine(sign, shear=(0.0, shear), center=[0, 0]),
        "translate_x": lambda sign: affine(sign, translate=(int(150 / 331 * WIDTH * level), 0)),
        "translate_y": lambda sign: affine(sign, translate=(0, int(150 / 331 * HEIGHT * level))),
        "rotate": lambda sign: F.rotate(IMAGE, sign * 30 * level, **warp),
        "brightness": lambda sign: F.adjust_brightness(IMAGE, 1 + sign * 0.9 * level),
        "color": lambda sign: F.adjust_saturation(IMAGE, 1 + sign * 0.9 * level),
        "contrast": lambda sign: F.adjust_contrast(IMAGE, 1 + sign * 0.9 * level),
        "sharpness": lambda sign: F.adjust_sharpness(IMAGE, 1 + sign * 0.9 * level),
    }
    for name, change in both.items():
        yield case(name, "rand_augment", {"num_ops": 1, "operations": [name]}, change(1), change(-1), **AUGMENTED[name])
    alone = {
        "identity": IMAGE,
        "posterize": F.posterize(IMAGE, round(8 - 4 * level)),
        "solarize": F.solarize(IMAGE, 255 * (1 - level)),
        "equalize": F.equalize(IMAGE),
    }
    for name, image in alone.items():
        yield case(name, "rand_augment", {"num_ops": 1, "operations": [name]}, image)


def trivial_augmentations():
    """One operation at a time, in all strengths that torchvision's own table gives: of the least, nothing changes."""
    # Strengths of torchvision's table are of float32: 1.99 is a little more there.
    for name, bounds in (AUGMENTED | {"brightness": {"most": 1, "mean": 0.02}}).items():
        bins = 3 if name.startswith("translate") else 2  # the largest move leaves nothing of this image
        policy = TrivialAugmentWide(num_magnitude_bins=bins, interpolation=BILINEAR)
        word = name.title().replace("_", "")
        strengths, signed = policy._AUGMENTATION_SPACE[word]
        least, *others = strengths(bins, HEIGHT, WIDTH).tolist()

        def change(strength):
            return policy._apply_image_or_video_transform(IMAGE, word, strength, BILINEAR, policy._fill)

        assert torch.equal(change(least), IMAGE)
        images = []
        for strength in [sign * each for each in others for sign in ((1, -1) if signed else (1,))]:
            image = change(strength)
            if not any(torch.equal(image, each) for each in images):
                images.append(image)
        yield case(name, "trivial_augment", {"num_magnitude_bins": bins, "operations": [name]}, *images,
                   **bounds) | {"itself": True}


def main():
    shape, data = packed(IMAGE)
    cases = [*resizes(), *windows(), *warps(), *perspectives(), *colours(), *augmentations(),
             *trivial_augmentations()]
    FOLDER.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(json.dumps(each, separators=(",", ":")) for each in cases)
    content = f'{{"image":{json.dumps({"shape": shape, "data": data}, separators=(",", ":"))},"cases":[\n{lines}\n]}}\n'
    (FOLDER / "operations.json").write_text(content, encoding="utf-8")


main()
