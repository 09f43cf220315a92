"""Masks, read by dataset:segmentation, hold the numbers that Pillow wrote, in whatever format and orientation."""
import struct

# Ends this script, too, where there is no Pillow.
from pillow_compare import check, exif, photo, read, run

import numpy as np
from PIL import Image, ImageOps


def masks(folder):
    """Palettes give their indices, grey its stored values."""
    (folder / "images").mkdir()
    (folder / "masks").mkdir()
    numbers = np.random.default_rng(5).integers(0, 4, (31, 22)).astype(np.uint8)
    palette = Image.fromarray(numbers).convert("P")
    palette.putpalette([200, 10, 10, 3, 4, 250, 7, 7, 7, 0, 255, 0])
    two = Image.fromarray((numbers % 2) * 255).convert("1")
    wide = Image.fromarray(numbers.astype(np.uint16))
    grey = Image.fromarray(numbers)
    small = Image.fromarray(numbers).convert("P")
    small.putpalette([9, 9, 9, 8, 8, 8, 1, 2, 3, 5, 5, 5])
    written = {"palette": (palette, {}, "png"), "bits": (two, {}, "png"), "wide": (wide, {}, "png"),
               "grey": (grey, {}, "png"), "four": (small, {"bits": 2}, "png"), "tiff": (grey, {}, "tif"),
               "colours": (grey.convert("RGB"), {}, "png")}
    for name, (image, more, ending) in written.items():
        image.save(folder / "masks" / f"{name}.{ending}", **more)
        Image.fromarray(photo(22, 31, 3)).save(folder / "images" / f"{name}.jpg")
    told = read("segmentation", images=str(folder / "images"), masks=str(folder / "masks"), classes=4)
    for name, item in zip(sorted(written), told["items"]):
        wanted = numbers % 2 if name == "bits" else numbers
        check("error" not in item and (item["mask"] == wanted).all(), f"mask {name}: {item.get('error')}")
    told = read("segmentation", images=str(folder / "images"), masks=str(folder / "masks"), classes=2,
                values={"0": 1, "1": 0}, ignore=[2, 3])
    renamed = np.array([1, 0, 255, 255])[numbers]
    check((dict(zip(sorted(written), told["items"]))["palette"]["mask"] == renamed).all(), "values are renamed")


def tiff(values, bits, meaning):
    """A TIFF file of greys, little-endian, in one strip: `meaning` 0 says that 0 is white, 1 that it is black."""
    rows = [np.packbits(row) if bits == 1 else row.astype(f"<u{bits // 8}") for row in values]
    data = b"".join(row.tobytes() for row in rows)
    height, width = values.shape
    tags = ((256, width), (257, height), (258, bits), (259, 1), (262, meaning), (273, 8), (277, 1), (278, height),
            (279, len(data)))
    directory = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
    return b"II*\0" + struct.pack("<I", 8 + len(data)) + data + struct.pack("<H", len(tags)) + directory + bytes(4)


def masks_alike(folder):
    """One mask holds the same numbers, in whatever format Pillow saved it."""
    (folder / "images").mkdir()
    (folder / "masks").mkdir()
    numbers = np.random.default_rng(6).integers(0, 4, (31, 22)).astype(np.uint8)
    palette = Image.fromarray(numbers).convert("P")
    palette.putpalette([200, 10, 10, 3, 4, 250, 7, 7, 7, 0, 255, 0])
    greys = Image.fromarray(numbers).convert("P")
    greys.putpalette([0, 0, 0, 80, 80, 80, 160, 160, 160, 255, 255, 255])
    bits = Image.fromarray((numbers % 2) * 255).convert("1")
    saved = {
        "palette": (palette, ("png", "bmp", "tif"), {}),
        "greys-of-a-palette": (greys, ("png", "bmp", "tif"), {}),
        "grey": (Image.fromarray(numbers), ("png", "bmp", "tif", "pgm"), {}),
        "wide": (Image.fromarray(numbers.astype(np.uint16)), ("png", "tif"), {}),
        "bits": (bits, ("png", "bmp", "tif", "pbm"), {}),
        "fax": (bits, ("tif",), {"compression": "group4"}),
    }
    # Pillow writes as many colours into BMP as are given, and pixels may lie beyond them.
    beyond = numbers.copy()
    beyond[0, :2] = 255, 200
    short = Image.fromarray(beyond).convert("P")
    short.putpalette([200, 10, 10, 3, 4, 250, 7, 7, 7, 0, 255, 0])
    saved["short"] = (short, ("bmp", "tif"), {})
    saved["lossless"] = (Image.fromarray(numbers), ("webp", "jp2"), {"lossless": True})
    lossy = {"webp": {"quality": 100}, "jp2": {"irreversible": True}, "tif": {"compression": "jpeg"}}
    names = []
    for ending, more in lossy.items():
        Image.fromarray(numbers).save(folder / "masks" / f"lossy-{ending}.{ending}", **more)
        names.append(f"lossy-{ending}")
    for name, (image, endings, more) in saved.items():
        for ending in endings:
            image.save(folder / "masks" / f"{name}-{ending}.{ending}", **more)
            names.append(f"{name}-{ending}")
    for name, meaning in (("bits-black", 1), ("bits-white", 0)):
        values = numbers % 2 if meaning else 1 - numbers % 2
        (folder / "masks" / f"{name}.tif").write_bytes(tiff(values, 1, meaning))
        names.append(name)
    for bits in (8, 16):
        (folder / "masks" / f"inverted-{bits}.tif").write_bytes(tiff(numbers, bits, 0))
        names.append(f"inverted-{bits}")
    for name in names:
        Image.fromarray(photo(22, 31, 3)).save(folder / "images" / f"{name}.png")
    told = read("segmentation", images=str(folder / "images"), masks=str(folder / "masks"), classes=4, ignore=[200])
    for name, item in zip(sorted(names), told["items"]):
        if name.startswith("lossy"):
            check("keeps no exact class numbers" in item.get("error", ""), f"mask {name}: {item.get('error', 'no error')}")
            continue
        if name.startswith("inverted"):
            check("0 is white" in item.get("error", ""), f"mask {name}: {item.get('error', 'no error')}")
            continue
        wanted = numbers % 2 if name.startswith(("bits", "fax")) else numbers
        if name.startswith("short"):
            wanted = np.where(beyond == 200, 255, beyond)
        check("error" not in item and (item["mask"] == wanted).all(), f"mask {name}: {item.get('error', 'other numbers')}")


def turned_masks(folder):
    """Each file is turned by its own EXIF data: a mask without any belongs to the upright image."""
    for name in ("images", "upright", "stored", "turned"):
        (folder / name).mkdir()
    numbers = np.random.default_rng(7).integers(0, 4, (31, 22)).astype(np.uint8)
    upright = {}
    for orientation in range(1, 9):
        name = f"{orientation}.png"
        Image.fromarray(photo(22, 31, 3)).save(folder / "images" / name, exif=exif(orientation))
        stored = Image.fromarray(numbers)
        stored.save(folder / "stored" / name)
        stored.save(folder / "turned" / name, exif=exif(orientation))
        turned = ImageOps.exif_transpose(Image.open(folder / "turned" / name))
        turned.info.pop("exif", None)
        turned.save(folder / "upright" / name)
        upright[orientation] = np.asarray(turned)

    def pairs(masks, **params):
        return read("segmentation", images=str(folder / "images"), masks=str(folder / masks), classes=4, **params)["items"]

    for masks in ("upright", "turned"):
        for orientation, item in enumerate(pairs(masks), 1):
            check("error" not in item and (item["mask"] == upright[orientation]).all(),
                  f"mask {masks}, orientation {orientation}: {item.get('error', 'other numbers')}")
            check(item["image"].shape[:2] == item["mask"].shape, f"mask {masks}, orientation {orientation}: shapes")
    for item in pairs("stored", orientation="ignore") + pairs("turned", orientation="ignore"):
        check((item["mask"] == numbers).all() and (item["image"] == photo(22, 31, 3)).all(), "pairs as they are stored")
    for orientation, item in enumerate(pairs("stored"), 1):
        if orientation > 4:
            words = item.get("error", "no error")
            check('"orientation": "ignore"' in words, f"a mask of the stored image, orientation {orientation}: {words}")


run(masks=masks, alike=masks_alike, turned=turned_masks)
